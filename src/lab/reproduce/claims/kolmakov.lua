-- SPDX-License-Identifier: Apache-2.0
source {
  name = "kolmakov",
  paper = "TODO",
}
