from mqsel.machine._values import Record

class Folders:
    names: tuple[str, ...]
    record: Record
