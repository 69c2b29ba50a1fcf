# Generated from opcodes.py by `python mqsel/opcodes.py`; a test proves it fresh.

cdef enum Op:
    PUSH_SLOT = 0  # ( -- value )  push the property; one the message lacks is NULL
    PUSH_CONSTANT = 1  # ( -- value )  push the constant
    AS_VALUE = 2  # ( truth -- value )  a truth value as a boolean; UNKNOWN is NULL
    ADD = 3  # ( value value -- value )  left + right, after Java's binary numeric promotion
    SUBTRACT = 4  # ( value value -- value )  left - right
    MULTIPLY = 5  # ( value value -- value )  left * right
    DIVIDE = 6  # ( value value -- value )  left / right; ERR for an integer divided by zero
    PLUS = 7  # ( value -- value )  unary plus: a number stays, anything else is poisoned
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
    STARTS_WITH = 23  # ( value -- truth )  LIKE 'text%'
    NOT_STARTS_WITH = 24  # ( value -- truth )  NOT LIKE 'text%'
    ENDS_WITH = 25  # ( value -- truth )  LIKE '%text'
    NOT_ENDS_WITH = 26  # ( value -- truth )  NOT LIKE '%text'
    CONTAINS = 27  # ( value -- truth )  LIKE '%text%'
    NOT_CONTAINS = 28  # ( value -- truth )  NOT LIKE '%text%'
    IS_NULL = 29  # ( -- truth )  the message lacks the property
    IS_NOT_NULL = 30  # ( -- truth )  the message has the property
    AND = 31  # ( truth truth -- truth )  Kleene AND
    OR = 32  # ( truth truth -- truth )  Kleene OR
    NOT = 33  # ( truth -- truth )  Kleene NOT
    JUMP_IF_FALSE = 34  # ( truth -- truth )  if FALSE go forward to the target, keeping the truth value
    JUMP_IF_TRUE = 35  # ( truth -- truth )  if TRUE go forward to the target, keeping the truth value
    BRANCH_IF_TRUE = 36  # ( truth -- )  if TRUE go forward to the target
    BRANCH_UNLESS_TRUE = 37  # ( truth -- )  if FALSE or UNKNOWN go forward to the target
    BRANCH_IF_FALSE = 38  # ( truth -- )  if FALSE go forward to the target
    BRANCH_UNLESS_FALSE = 39  # ( truth -- )  if TRUE or UNKNOWN go forward to the target
    RESTART_IF_UNKNOWN = 40  # ( truth -- truth )  if UNKNOWN begin again in the exact code at the target
    RETURN_TRUTH = 41  # ( -- )  end with FALSE or TRUE
    RETURN = 42  # ( truth -- )  end with the truth value
    EQUAL_SLOT_CONSTANT = 43  # ( -- truth )  slot = constant
    NOT_EQUAL_SLOT_CONSTANT = 44  # ( -- truth )  slot <> constant
    LESS_SLOT_CONSTANT = 45  # ( -- truth )  slot < constant
    LESS_EQUAL_SLOT_CONSTANT = 46  # ( -- truth )  slot <= constant
    GREATER_SLOT_CONSTANT = 47  # ( -- truth )  slot > constant
    GREATER_EQUAL_SLOT_CONSTANT = 48  # ( -- truth )  slot >= constant
    IN_SLOT = 49  # ( -- truth )  slot IN constant
    NOT_IN_SLOT = 50  # ( -- truth )  slot NOT IN constant
