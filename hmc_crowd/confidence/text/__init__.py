"""Confidence from text: encoders and classifiers over dialogues.

`TextEncoder` turns texts into features (for a Trust Score, a logistic head, or anything else), `TextClassifier` learns
labels and gives probabilities, `with_context` joins an utterance with the ones before it, `EmbeddingCache` keeps what
was computed. Any encoder checkpoint serves: a name of a hub, a local folder, or ``"minilm"``, whose weights come inside
a package and need no network. Importing this loads neither torch nor transformers; using it needs the extra ``text``.

Source: Zhang, Ren, de Rijke (2021), "A Human-machine Collaborative Framework for Evaluating Malevolence in Dialogues",
section 4.3 (classifier: softmax over [CLS], three previous utterances, 128 tokens).
"""

from hmc_crowd.confidence.text._cache import EmbeddingCache
from hmc_crowd.confidence.text._classifier import TextClassifier
from hmc_crowd.confidence.text._encoder import TextEncoder
from hmc_crowd.confidence.text._turns import with_context

__all__ = ["EmbeddingCache", "TextClassifier", "TextEncoder", "with_context"]
