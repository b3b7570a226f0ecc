"""Synthetic tables that a steward can share: rows of declared types, under one claim."""

from sfumato.synth.joined import LinkedSynthesis
from sfumato.synth.linked import LinkedPlan, LinkedSynthesizer
from sfumato.synth.synthesis import Synthesis
from sfumato.synth.synthesizer import SynthesisPlan, Synthesizer
from sfumato.synth.table import SyntheticTable

__all__ = [
    "LinkedPlan",
    "LinkedSynthesis",
    "LinkedSynthesizer",
    "Synthesis",
    "SynthesisPlan",
    "Synthesizer",
    "SyntheticTable",
]
