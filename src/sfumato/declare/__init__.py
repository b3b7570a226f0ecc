"""What the user says: tables, filters, questions. Frozen data, standard library."""
