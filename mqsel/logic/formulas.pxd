"""Rows are made in C."""

from mqsel._rows cimport row
