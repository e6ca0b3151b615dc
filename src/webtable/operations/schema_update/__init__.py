"""Schema update: compares the declared tables with those of a store, and alters the store.

    update = SchemaUpdate(store, record_classes=[Visit])
    for statement in update.diff().statements:
        print(statement.text)
    update.apply()

`docs/howto/change-the-schema.md` has the commands.
"""

from webtable.operations.schema_update.compare_and_alter import SchemaUpdate
from webtable.operations.schema_update.update_plan import SchemaDiff, Withheld

__all__ = ["SchemaDiff", "SchemaUpdate", "Withheld"]
