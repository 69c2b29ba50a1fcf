"""Azure Service Bus, by its documents."""

from mqsel.language.product import Product, Rules

PRODUCT = Product(
    product="documents alone: no engine could be measured",
    engine=(
        "[Subscription Rule SQL Filter "
        "Syntax](https://learn.microsoft.com/en-us/azure/service-bus-messaging/service-bus-messaging-sql-filter)"
    ),
    sources={
        "Emulator": (
            "Azure Service Bus emulator, [issue "
            "127](https://github.com/Azure/azure-service-bus-emulator-installer/issues/127)"
        ),
        "Service Bus": (
            "Azure Service Bus, [Subscription Rule SQL Filter "
            "Syntax](https://learn.microsoft.com/en-us/azure/service-bus-messaging/service-bus-messaging-sql-filter);"
            " documents alone, not measured"
        ),
    },
    fields={
        "type_mismatch": "undocumented",
        "identifier_dots": "scopes",
        "headers": "folded",
        "max_length": 1024,
    },
    rules=Rules(
        unequal_sign="exclamation",
        remainder="yes",
        quoted_names="both",
        integers="long",
        letters="unicode",
        words="exists",
        numbers="sql",
        in_operands="any",
        like_operands="pattern",
        static_types="none",
        empty_text="error",
        not_modelled="azure",
    ),
    not_modelled="newid(), parameters (@p), what a comparison of different types yields",
    selectors="none",
)
