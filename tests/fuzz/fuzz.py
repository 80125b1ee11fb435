"""Runs fuzz targets on their seed corpora, and counts what it cost.

    ./run fuzz                        list the targets
    ./run fuzz jpeg 600               one target, ten minutes
    ./run fuzz all 20                 each target for 20 seconds, two at a time
    ./run fuzz all --repeat           the seeds and the same mutations of them, every time

What runs find lies in build/fuzz/TARGET: new inputs in corpus/, where the next run finds them, and
inputs that broke a promise, crashed or hung in findings/. `--keep` copies inputs that reach new code,
up to 64 files and 48 KiB a target, into tests/fuzz/corpus. The exit code is 1 if anything was found.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
# Seeds beside tests/fuzz/corpus/TARGET.
GOLDEN_SEEDS = {
    "jpeg": "images/*.jpg",
    "jpeg_ours": "images/*.jpg",
    "png": "images/*.png",
    "png_ours": "images/*.png",
    "webp": "images/*.webp",
    "bmp": "images/*.bmp",
    "npy": "images/*.npy",
    "tiff": "images/*.tif",
    "recordio": "*/*.rec",
    "idx": "*/*.idx",
    "still": "h264/*.mp4",
}
# Longer inputs than the longest seed teach a parser nothing and slow it down.
MOST_BYTES = {
    "recordio": 8192,
    "recordio_pair": 8192,
    "ffrecord_pair": 4096,
    "state": 1 << 17,
    "jpeg_hints": 8192,
    "split": 2048,
    "split_uri": 256,
}
# Executions of `--repeat`: some seconds for each target. Those named open files, start threads or
# decode in another process.
REPEATED = 10_000
REPEATED_OF = {
    "bzna": 4_000,
    "ffrecord": 4_000,
    "ffrecord_pair": 2_000,
    "packed_folder": 4_000,
    "recordio": 4_000,
    "recordio_pair": 2_000,
    "split": 1_000,
    "split_uri": 4_000,
    "still": 1_000,
}
KEPT_BYTES = 48 << 10
KEPT_FILES = 64


@dataclass
class Result:
    target: str
    failed: bool
    cpu_seconds: float
    executions: int
    coverage: int
    findings: int

    def row(self) -> str:
        cells = (self.target, f"{self.cpu_seconds:.0f} s", f"{self.executions:,} executions")
        return ", ".join((*cells, f"{self.coverage} edges", f"{self.findings} findings"))


class Fuzzing:
    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.work = ROOT / "build" / "fuzz"

    def targets(self) -> list[str]:
        return sorted(path.name.removesuffix("_fuzzer") for path in self.programs.glob("*_fuzzer"))

    def corpus(self, target: str, repeat: bool = False) -> Path:
        """The working corpus, with the seeds in it; to repeat a run, one of the seeds alone."""
        corpus = self.work / target / ("seeds" if repeat else "corpus")
        if repeat:
            shutil.rmtree(corpus, ignore_errors=True)
        corpus.mkdir(parents=True, exist_ok=True)
        (self.work / target / "findings").mkdir(exist_ok=True)
        for seed in self.seeds(target):
            shutil.copy(seed, corpus / seed.name)
        return corpus

    def run(self, target: str, seconds: int | None) -> Result:
        """Runs for so many seconds; with None, as in every run that is repeated."""
        corpus = self.corpus(target, repeat=seconds is None)
        findings = self.work / target / "findings"
        length = (
            [f"-max_total_time={seconds}", "-timeout=20"]
            if seconds is not None
            else [f"-runs={REPEATED_OF.get(target, REPEATED)}", "-seed=1", "-timeout=120"]
        )
        before = len(list(findings.iterdir()))
        command = [
            str(self.programs / f"{target}_fuzzer"),
            str(corpus),
            *length,
            f"-artifact_prefix={findings}/",
            "-rss_limit_mb=2048",
            "-malloc_limit_mb=1024",
            "-print_final_stats=1",
            "-reload=0",
        ]
        if target in MOST_BYTES:
            command.append(f"-max_len={MOST_BYTES[target]}")
        log = self.work / target / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        text = log.read_text(errors="replace")
        executions = re.findall(r"stat::number_of_executed_units:\s*(\d+)", text)
        if not executions:
            executions = re.findall(r"^#(\d+)", text, re.M) or ["0"]
        coverage = re.findall(r"cov: (\d+)", text) or ["0"]
        return Result(
            target,
            process.returncode != 0,
            usage.ru_utime + usage.ru_stime,
            int(executions[-1]),
            int(coverage[-1]),
            len(list(findings.iterdir())) - before,
        )

    def report(self, result: Result) -> None:
        print(result.row(), flush=True)
        if result.failed:
            log = self.work / result.target / "log"
            lines = log.read_text(errors="replace").splitlines()[-60:]
            print("\n".join(lines))
            print(f"fuzz: {result.target} failed; inputs: {log.parent / 'findings'}", flush=True)

    def keep(self, target: str) -> None:
        corpus, kept = self.corpus(target), ROOT / "tests" / "fuzz" / "corpus" / target
        least = self.work / target / "least"
        shutil.rmtree(least, ignore_errors=True)
        least.mkdir()
        for seed in self.seeds(target):
            shutil.copy(seed, least / seed.name)
        program = str(self.programs / f"{target}_fuzzer")
        subprocess.run(
            [program, "-merge=1", str(least), str(corpus)], check=True, stderr=subprocess.DEVNULL
        )
        kept.mkdir(parents=True, exist_ok=True)
        found = [path for path in least.iterdir() if re.fullmatch(r"[0-9a-f]{40}", path.name)]
        found = sorted(
            (path for path in found if not (kept / path.name).exists()),
            key=lambda path: (path.stat().st_size, path.name),
        )
        room = KEPT_BYTES - sum(path.stat().st_size for path in kept.iterdir())
        left = max(1, KEPT_FILES - len(list(kept.iterdir())))
        for path in found[:: -(-len(found) // left) or 1]:  # of every size
            room -= path.stat().st_size
            if room < 0:
                break
            shutil.copy(path, kept / path.name)

    def seeds(self, target: str) -> list[Path]:
        seeds = list((ROOT / "tests" / "fuzz" / "corpus" / target).glob("*"))
        if target in GOLDEN_SEEDS:
            seeds += GOLDEN.glob(GOLDEN_SEEDS[target])
        return [s for s in seeds if s.stat().st_size <= MOST_BYTES.get(target, 1 << 20)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", nargs="?", help="a target, or 'all' (default: list them)")
    parser.add_argument("seconds", nargs="?", type=int, default=60)
    parser.add_argument("--repeat", action="store_true", help="the same inputs every time")
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "asan" / "tests" / "fuzz")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--keep", action="store_true", help="keep what reaches more in the tree")
    options = parser.parse_args()
    fuzzing = Fuzzing(options.programs.resolve())
    known = fuzzing.targets()
    if options.target is None:
        print("\n".join(known))
        return 0
    chosen = known if options.target == "all" else [options.target]
    if not known or not set(chosen) <= set(known):
        print(f"fuzz: no target '{options.target}'. Known: {', '.join(known)}", file=sys.stderr)
        return 2

    results: list[Result] = []
    waiting, lock = list(chosen), threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not waiting:
                    return
                target = waiting.pop(0)
            result = fuzzing.run(target, None if options.repeat else options.seconds)
            with lock:
                results.append(result)
                fuzzing.report(result)

    threads = [threading.Thread(target=work) for _ in range(min(options.jobs, len(chosen)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if options.keep:
        for target in chosen:
            fuzzing.keep(target)
    failed = sum(result.failed for result in results)
    print(f"fuzz: {len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
