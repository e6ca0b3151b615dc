"""Schema update: compares the declared tables with those of a store, and alters the store.

    update = SchemaUpdate(store, record_classes=[Visit])
    for statement in update.diff().statements:
        print(statement.text)
    update.apply()

`docs/howto/change-the-schema.md` has the commands.
"""

from webtable.operations.schema_update.diff import SchemaDiff, Withheld
from webtable.operations.schema_update.update import SchemaUpdate

__all__ = ["SchemaDiff", "SchemaUpdate", "Withheld"]
