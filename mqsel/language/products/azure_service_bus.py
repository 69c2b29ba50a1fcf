"""Azure Service Bus, by its documents."""

from mqsel.language.product import DECIMAL, NEVER, Choice, Numbers, Product, Rules

# The reserved keywords of Transact-SQL, which Service Bus reserves.
_TRANSACT_SQL = (
    "ADD ALL ALTER AND ANY AS ASC AUTHORIZATION BACKUP BEGIN BETWEEN BREAK BROWSE BULK BY CASCADE CASE CHECK "
    "CHECKPOINT CLOSE CLUSTERED COALESCE COLLATE COLUMN COMMIT COMPUTE CONSTRAINT CONTAINS CONTAINSTABLE CONTINUE "
    "CONVERT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASE DBCC "
    "DEALLOCATE DECLARE DEFAULT DELETE DENY DESC DISK DISTINCT DISTRIBUTED DOUBLE DROP DUMP ELSE END ERRLVL ESCAPE "
    "EXCEPT EXEC EXECUTE EXISTS EXIT EXTERNAL FETCH FILE FILLFACTOR FOR FOREIGN FREETEXT FREETEXTTABLE FROM FULL "
    "FUNCTION GOTO GRANT GROUP HAVING HOLDLOCK IDENTITY IDENTITYCOL IDENTITY_INSERT IF IN INDEX INNER INSERT "
    "INTERSECT INTO IS JOIN KEY KILL LEFT LIKE LINENO LOAD MERGE NATIONAL NOCHECK NONCLUSTERED NOT NULL NULLIF OF OFF "
    "OFFSETS ON OPEN OPENDATASOURCE OPENQUERY OPENROWSET OPENXML OPTION OR ORDER OUTER OVER PERCENT PIVOT PLAN "
    "PRECISION PRIMARY PRINT PROC PROCEDURE PUBLIC RAISERROR READ READTEXT RECONFIGURE REFERENCES REPLICATION RESTORE "
    "RESTRICT RETURN REVERT REVOKE RIGHT ROLLBACK ROWCOUNT ROWGUIDCOL RULE SAVE SCHEMA SECURITYAUDIT SELECT "
    "SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYDETAILSTABLE SEMANTICSIMILARITYTABLE SESSION_USER SET SETUSER SHUTDOWN "
    "SOME STATISTICS SYSTEM_USER TABLE TABLESAMPLE TEXTSIZE THEN TO TOP TRAN TRANSACTION TRIGGER TRUNCATE TRY_CONVERT "
    "TSEQUAL UNION UNIQUE UNPIVOT UPDATE UPDATETEXT USE USER VALUES VARYING VIEW WAITFOR WHEN WHERE WHILE WITH WITHIN "
    "WRITETEXT"
)
PRODUCT = Product(
    product="documentation only; mqsel wasn't compared with an engine",
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
    not_modelled="newid(), parameters (@p), and comparisons of different types",
    selectors="none",
    own={
        "quoted_names": Choice('`"any text"` and `[any text]` are names', "Service Bus"),
        "letters": Choice("names consist of letters, digits and `_`, and begin with a letter", "Service Bus"),
        "words": Choice(
            "the keywords are the JMS words without BETWEEN, and EXISTS; a reserved word of "
            "Transact-SQL is a name only in quotes",
            'Service Bus: "can\'t be a reserved keyword"',
        ),
        "numbers": Choice("numbers are decimal and have no suffixes", "Service Bus"),
        "like_operands": Choice("LIKE accepts any value on its left, as its pattern and after ESCAPE", "Service Bus"),
        "not_modelled": Choice("mqsel doesn't support newid(), parameters and computed names", "Service Bus"),
    },
    numbers=Numbers(DECIMAL, NEVER, "[0-9]+", "signed"),
    words="EXISTS -BETWEEN",
    reserved=_TRANSACT_SQL,
    functions=("EXISTS",),
    unmodelled={**dict.fromkeys(("NEWID", "PROPERTY", "P"), "("), "@": "identifier"},
)
