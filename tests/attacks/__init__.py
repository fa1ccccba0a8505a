"""Attacks, one named case each, in one table: ``python -m tests.attacks`` runs them all and says how many got in.

An attack is a function that takes a scene (what is attacked: the real applications, with honest people half way through
their work) and does what an attacker would. To add some, put a file into this folder; it is found by itself:

    from tests.attacks import attack, refused
    from tests.attacks._pages import pages

    @attack("worker pages", "a link without its signature", pages, defence="404")
    def _(scene):
        refused(scene.client.get("/work/s/abc/q/1"))

The scene is a context manager without arguments that yields a `Scene`; there is one per door in the files that begin
with an underscore, and a file of attacks may have its own. After each attack the runner looks, whatever the attack
itself asserted:

- what is stored (`Scene.stored`) is what it was before, unless the attack says ``stores="why"``;
- none of the texts in `Scene.foreign` was in any reply that the scene's clients got (`Scene.shown`);
- honest people can go on (`Scene.goes_on`).

An AssertionError means that the attack got in, any other error that the attack is broken; both make the exit status 1.
A scene serves many attacks and is opened anew after one that changed something. The same table runs among the tests
(`test_attacks.py`), where each door is one test. Attacks that wait on purpose carry ``is_slow=True``: the table runs
them always, the tests only with ``-m slow``.

``python -m tests.attacks [--door NAME]... [--json]``
"""

from tests.attacks._table import ATTACKS, DOORS, Attack, Outcome, Scene, attack, load, prepared, refused, run_attacks

__all__ = ["ATTACKS", "DOORS", "Attack", "Outcome", "Scene", "attack", "load", "prepared", "refused", "run_attacks"]
