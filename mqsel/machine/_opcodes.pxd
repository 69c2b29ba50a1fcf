# Generated from opcodes.py by `python mqsel/machine/opcodes.py`; a test proves it fresh.

cdef enum Op:
    PUSH_SLOT = 0  # ( -- value )  push the property; NULL if the message lacks it
    PUSH_CONSTANT = 1  # ( -- value )  push the constant
    AS_VALUE = 2  # ( truth -- value )  a truth value as a boolean; UNKNOWN is NULL
    ADD = 3  # ( value value -- value )  left + right, after Java's binary numeric promotion
    SUBTRACT = 4  # ( value value -- value )  left - right
    MULTIPLY = 5  # ( value value -- value )  left * right
    DIVIDE = 6  # ( value value -- value )  left / right; ERR for an integer divided by zero
    PLUS = 7  # ( value -- value )  unary plus: a number stays, another value is a type error
    NEGATE = 8  # ( value -- value )  unary minus
    PUSH_TRUTH = 9  # ( -- truth )  push FALSE or TRUE
    AS_TRUTH = 10  # ( value -- truth )  a boolean as a condition; NULL is UNKNOWN, anything else a mismatch
    EQUAL = 11  # ( value value -- truth )  left = right
    NOT_EQUAL = 12  # ( value value -- truth )  left <> right
    LESS = 13  # ( value value -- truth )  left < right
    LESS_EQUAL = 14  # ( value value -- truth )  left <= right
    GREATER = 15  # ( value value -- truth )  left > right
    GREATER_EQUAL = 16  # ( value value -- truth )  left >= right
    BETWEEN = 17  # ( value value value -- truth )  operand BETWEEN low AND high
    NOT_BETWEEN = 18  # ( value value value -- truth )  operand NOT BETWEEN low AND high
    IN = 19  # ( value -- truth )  the string is one of the constant's
    NOT_IN = 20  # ( value -- truth )  the string is none of the constant's
    LIKE = 21  # ( value -- truth )  the string matches the pattern
    NOT_LIKE = 22  # ( value -- truth )  the string does not match the pattern
    IS_NULL = 23  # ( -- truth )  the message lacks the property
    IS_NOT_NULL = 24  # ( -- truth )  the message has the property
    AND = 25  # ( truth truth -- truth )  Kleene AND
    OR = 26  # ( truth truth -- truth )  Kleene OR
    NOT = 27  # ( truth -- truth )  Kleene NOT
    JUMP_IF_FALSE = 28  # ( truth -- truth )  if FALSE go forward to the target, keeping the truth value
    JUMP_IF_TRUE = 29  # ( truth -- truth )  if TRUE go forward to the target, keeping the truth value
    BRANCH_IF_TRUE = 30  # ( truth -- )  if TRUE go forward to the target
    BRANCH_UNLESS_TRUE = 31  # ( truth -- )  if FALSE or UNKNOWN go forward to the target
    BRANCH_IF_FALSE = 32  # ( truth -- )  if FALSE go forward to the target
    BRANCH_UNLESS_FALSE = 33  # ( truth -- )  if TRUE or UNKNOWN go forward to the target
    BRANCH_IF_UNKNOWN = 34  # ( truth -- truth )  if UNKNOWN go forward to the target, without the truth value
    RESTART_IF_UNKNOWN = 35  # ( truth -- truth )  if UNKNOWN begin again in the exact code at the target
    RETURN_TRUTH = 36  # ( -- )  end with FALSE or TRUE
    RETURN = 37  # ( truth -- )  end with the truth value
    SWITCH_SLOT = 38  # ( -- )  if the slot is the nth string go to the nth JUMP after this, else past them all
    JUMP = 39  # ( -- )  go forward to the target
    ADD_CONSTANT = 40  # ( value -- value )  value + constant
    SUBTRACT_CONSTANT = 41  # ( value -- value )  value - constant
    MULTIPLY_CONSTANT = 42  # ( value -- value )  value * constant
    DIVIDE_CONSTANT = 43  # ( value -- value )  value / constant
    EQUAL_CONSTANT = 44  # ( value -- truth )  value = constant
    NOT_EQUAL_CONSTANT = 45  # ( value -- truth )  value <> constant
    LESS_CONSTANT = 46  # ( value -- truth )  value < constant
    LESS_EQUAL_CONSTANT = 47  # ( value -- truth )  value <= constant
    GREATER_CONSTANT = 48  # ( value -- truth )  value > constant
    GREATER_EQUAL_CONSTANT = 49  # ( value -- truth )  value >= constant
    BETWEEN_CONSTANTS = 50  # ( value -- truth )  value BETWEEN constant AND constant
    NOT_BETWEEN_CONSTANTS = 51  # ( value -- truth )  value NOT BETWEEN constant AND constant
    EQUAL_SLOT_STRING = 52  # ( -- truth )  slot = string
    NOT_EQUAL_SLOT_STRING = 53  # ( -- truth )  slot <> string
    EQUAL_SLOT_CONSTANT = 54  # ( -- truth )  slot = constant
    NOT_EQUAL_SLOT_CONSTANT = 55  # ( -- truth )  slot <> constant
    LESS_SLOT_CONSTANT = 56  # ( -- truth )  slot < constant
    LESS_EQUAL_SLOT_CONSTANT = 57  # ( -- truth )  slot <= constant
    GREATER_SLOT_CONSTANT = 58  # ( -- truth )  slot > constant
    GREATER_EQUAL_SLOT_CONSTANT = 59  # ( -- truth )  slot >= constant
    LIKE_SLOT = 60  # ( -- truth )  slot LIKE pattern
    NOT_LIKE_SLOT = 61  # ( -- truth )  slot NOT LIKE pattern
    STARTS_WITH_SLOT = 62  # ( -- truth )  slot LIKE 'text%'
    NOT_STARTS_WITH_SLOT = 63  # ( -- truth )  slot NOT LIKE 'text%'
    ENDS_WITH_SLOT = 64  # ( -- truth )  slot LIKE '%text'
    NOT_ENDS_WITH_SLOT = 65  # ( -- truth )  slot NOT LIKE '%text'
    CONTAINS_SLOT = 66  # ( -- truth )  slot LIKE '%text%'
    NOT_CONTAINS_SLOT = 67  # ( -- truth )  slot NOT LIKE '%text%'
    IN_SLOT = 68  # ( -- truth )  slot IN constant
    NOT_IN_SLOT = 69  # ( -- truth )  slot NOT IN constant
    ADD_SLOT_CONSTANT = 70  # ( -- value )  slot + constant
    SUBTRACT_SLOT_CONSTANT = 71  # ( -- value )  slot - constant
    MULTIPLY_SLOT_CONSTANT = 72  # ( -- value )  slot * constant
    DIVIDE_SLOT_CONSTANT = 73  # ( -- value )  slot / constant
    REMAINDER = 74  # ( value value -- value )  left % right; ERR for an integer and zero
    REMAINDER_CONSTANT = 75  # ( value -- value )  value % constant
    REMAINDER_SLOT_CONSTANT = 76  # ( -- value )  slot % constant
    JUMP_UNLESS_TRUE = 77  # ( truth -- truth )  if FALSE or UNKNOWN go forward to the target, keeping the truth value
    RIGHT = 78  # ( truth truth -- truth )  the right one of both
    COMPUTED = 79  # ( -- truth )  the interpreted test of the selector that has this number, from 0

cdef enum OperandType:
    NOTHING
    SLOT
    CONSTANT
    STRINGS
    PATTERN
    TEXT
    TRUTH
    TARGET
    TEST
