"""The sub-commands of ``sfumato ledger``."""
