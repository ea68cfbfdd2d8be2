-- SPDX-License-Identifier: Apache-2.0
source {
  name = "flexreduce",
  paper = "TODO",
}
