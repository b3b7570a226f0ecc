"""Synthetic tables that a steward can share: rows of declared types, under one claim."""

from sfumato.synth.synthesis import Synthesis
from sfumato.synth.synthesizer import SynthesisPlan, Synthesizer
from sfumato.synth.table import SyntheticTable

__all__ = ["Synthesis", "SynthesisPlan", "Synthesizer", "SyntheticTable"]
