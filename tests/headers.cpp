// SPDX-License-Identifier: Apache-2.0
// Nothing: it stands for the headers that are compiled once for all tests.
