# SPDX-License-Identifier: Apache-2.0
"""The README shows the example that is compiled and run, word for word."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
shown = re.search(r"```cpp\n(.*?)```", (root / "README.md").read_text(), re.S).group(1)
compiled = (root / "examples/quick_start.cpp").read_text()
compiled = compiled[compiled.index("#include"):]  # without what says what the file is for
if shown != compiled:
    sys.exit("README.md and examples/quick_start.cpp differ")
