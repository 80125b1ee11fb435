"""`base/guarded.h`: clang refuses what uses a guarded member without its mutex."""

from __future__ import annotations

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).parents[2]

SUM = """#include "fuelrail/base/guarded.h"
using fuelrail::Lock, fuelrail::Unlocked;
struct Sum {
  int get() const FUELRAIL_REQUIRES(mutex) { return sum; }
  void add(int n) { const Lock lock(mutex); sum += n; }
  void add_without(int n) { sum += n; }  // wrong
  int get_without() { return get(); }  // wrong
  void wait() { const Lock lock(mutex); while (get() < 9) more.wait(mutex); }
  void wait_without() { more.wait(mutex); }  // wrong
  void in_between() { const Lock lock(mutex); { const Unlocked unlocked(mutex); } ++sum; }
  void in_between_without() { const Lock lock(mutex); const Unlocked unlocked(mutex);
    ++sum; }  // wrong
  void work() { thread.begin(); ++own; }
  void work_elsewhere() { ++own; }  // wrong
  mutable fuelrail::Mutex mutex;
  fuelrail::Condition more;
  int sum FUELRAIL_GUARDED_BY(mutex) = 0;
  fuelrail::OneThread thread;
  int own FUELRAIL_GUARDED_BY(thread) = 0;
};
"""


def test_uses_without_the_mutex_are_refused_and_no_others() -> None:
    command = ["clang++-16", "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror"]
    done = subprocess.run(
        [*command, f"-I{ROOT / 'src'}", "-xc++", "-"], input=SUM, capture_output=True, text=True
    )
    refused = {int(line) for line in re.findall(r"<stdin>:(\d+):\d+: error:", done.stderr)}
    wrong = {i for i, line in enumerate(SUM.splitlines(), 1) if "// wrong" in line}
    assert refused == wrong, done.stderr
