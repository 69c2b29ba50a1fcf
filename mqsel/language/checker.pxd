"""Fields of rows are read in C."""

from mqsel._rows cimport field
