# SPDX-License-Identifier: Apache-2.0
"""The README shows the example that is compiled and run, word for word."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
shown = re.findall(r"```cpp\n(.*?)```", (root / "README.md").read_text(), re.S)
compiled = (root / "examples/quick_start.cpp").read_text()
compiled = compiled[compiled.index("#include"):]  # without what says what the file is for
if compiled not in shown:
    sys.exit("no block of README.md is examples/quick_start.cpp")
