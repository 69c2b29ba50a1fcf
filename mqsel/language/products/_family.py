"""What the products share whose selectors descend from those of ActiveMQ: their modules name what they do otherwise."""

from mqsel.language.product import DECIMAL, Numbers, Rules

FIELDS = {"headers": "any", "type_mismatch": "negated"}
FAMILY = Rules(
    remainder="yes",
    comments="dashes",
    letters="ascii",
    numbers="wrapped",
    comparisons="chained",
    plus_sign="none",
    in_operands="enclosed",
    like_operands="any",
    null_operand="any",
    escape="utf16",
    null_value="yes",
    static_types="ordered",
    empty_text="error",
    not_operand="primary",
    null_equality="left",
    ordering="all",
    arithmetic_mismatch="joined",
    in_mismatch="unknown",
    like_mismatch="negated",
    integers="narrow",
    division="ieee",
    floats="total",
)
FLOATS = "properties that are NaN or -0.0"
NOT_MODELLED = f"control characters up to U+000F behind the escape of LIKE, {FLOATS}"
NUMBERS = Numbers(
    DECIMAL, "0[xX][0-9A-Fa-f]+", "0[0-7]*|[1-9][0-9]*[lL]?", "wrapped", has_infinity=True, has_octal=True
)
CONVERSIONS = dict.fromkeys(("convert_string_expressions:", "no_convert_string_expressions:"), "")
