"""Running a store: what keeps it in the shape that programs declare, and what runs beside them."""
