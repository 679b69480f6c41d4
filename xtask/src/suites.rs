//! The table of suites, in the order in which they run.

mod alarms;
mod arm_instructions;
mod ask;
mod avx512;
mod compile;
mod console;
mod demo;
mod deny;
mod differential;
mod dist;
mod durable;
mod eval;
mod examples;
mod fuzz;
mod gateway;
mod house;
mod lab_device;
mod lab_page;
mod microcontroller;
mod no_std;
mod objects;
mod owner;
mod paillier;
mod price;
mod programs;
mod promises;
mod python;
mod readings;
mod scaleout;
mod seal;
mod sources;
mod spec;
mod trust;
pub(crate) mod venv;
mod wheels;
mod zig;

use crate::guide;
use crate::suite::{Depth, Suite};
use crate::tools::{
    AARCH64_CC, AARCH64_MUSL, AARCH64_STD, AVX512, C_COMPILER, CHROMIUM, CLIPPY, CPP_COMPILER, CURL, GO,
    JAVA, MIRI, MOSQUITTO, NIGHTLY, NO_STD, NODE, PYTHON, PYTHON_VENV, QEMU_AARCH64, QEMU_SYSTEM, RUSTFMT,
    SMALL_CORES,
};
pub(crate) use readings::command as cases;

/// Of those that run beside the others, the ones that wait longest come first; the deep suites come last.
#[rustfmt::skip]
pub(crate) static SUITES: &[Suite] = &[
    Suite { name: "format", shows: "the sources are formatted", depth: Depth::Quick, beside: false, needs: &[&RUSTFMT], run: compile::format },
    Suite { name: "lints", shows: "clippy finds no fault", depth: Depth::Quick, beside: false, needs: &[&C_COMPILER, &CLIPPY], run: compile::lints },
    Suite { name: "build", shows: "every crate, program and test builds", depth: Depth::Quick, beside: false, needs: &[&C_COMPILER], run: compile::build },
    Suite { name: "units", shows: "the unit tests pass", depth: Depth::Quick, beside: false, needs: &[&C_COMPILER], run: compile::units },
    Suite { name: "tests", shows: "the integration tests pass, and the examples of the reference", depth: Depth::Usual, beside: false, needs: &[&C_COMPILER], run: compile::tests },
    Suite { name: "docs", shows: "the reference builds without a warning", depth: Depth::Usual, beside: false, needs: &[&C_COMPILER], run: compile::docs },
    Suite { name: "alarms", shows: "alarms are right, no event is lost or repeated, and requests do not depend on readings", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER, &PYTHON_VENV], run: alarms::run },
    Suite { name: "console", shows: "the owner's page in a browser: what it shows is true, nobody else gets in, and dist/ is what its sources give", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER, &NODE, &CHROMIUM], run: console::run },
    Suite { name: "durable", shows: "nothing is lost between device and owner, and nothing is made up", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER], run: durable::run },
    Suite { name: "gateway", shows: "senders that cannot encrypt: readings that a gateway answered 204 are in the owner's answers, once, through kills; the guides of the gateway", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER, &CURL, &MOSQUITTO, &PYTHON], run: gateway::run },
    Suite { name: "python", shows: "the Python package: tests, types, style", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER, &PYTHON_VENV], run: python::run },
    Suite { name: "owner", shows: "whatever happens to the plant's folder: no secret is lost by a command, and the shown advice brings every reading back", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER], run: owner::run },
    Suite { name: "ask", shows: "answers of real processes are within their bounds of values computed by other means", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER], run: ask::run },
    Suite { name: "readings", shows: "readings as they really come: every case of SOTTO_CASES is right, and 100 messes of a clean series give its answer", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER], run: readings::run },
    Suite { name: "spec", shows: "the Python schemes are right and make the kept vectors", depth: Depth::Usual, beside: true, needs: &[&PYTHON], run: spec::run },
    Suite { name: "promises", shows: "forbidden links, unsafe code only in the kernels", depth: Depth::Quick, beside: false, needs: &[], run: promises::run },
    Suite { name: "house", shows: "file lengths, names, links, words, an example at every public type", depth: Depth::Quick, beside: false, needs: &[], run: house::run },
    Suite { name: "demo", shows: "the demo is right, and leaves nothing behind", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER], run: demo::run },
    Suite { name: "guide", shows: "the commands of the guides First answer, TLS, Alarms, meter, contact, rain, wind and the store print the output that these show", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER], run: guide::suite },
    Suite { name: "eval", shows: "`sotto eval` is right over a list of expressions", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER], run: eval::run },
    Suite { name: "trust", shows: "a cloud that lies is found out, and each lie is named", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER], run: trust::run },
    Suite { name: "objects", shows: "segments and backups in a bucket, whatever its server does", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER, &PYTHON_VENV], run: objects::run },
    Suite { name: "price", shows: "sotto answers as SQLite does, on the same readings", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER, &PYTHON], run: price::run },
    Suite { name: "examples", shows: "every worked example gives the right answer", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER], run: examples::run },
    Suite { name: "differential", shows: "50 random programs a scheme give SEAL's answers", depth: Depth::Usual, beside: false, needs: &[&C_COMPILER, &PYTHON_VENV], run: differential::sample },
    Suite { name: "fuzz", shows: "no decoder panics or holds too much on its corpus and 10,000 mutations; 100,000 mutants are refused", depth: Depth::Usual, beside: false, needs: &[&C_COMPILER], run: fuzz::mutations },
    Suite { name: "deny", shows: "cargo-deny: licences, bans, sources, and advisories where they can be had", depth: Depth::Usual, beside: false, needs: &[], run: deny::run },
    Suite { name: "seal", shows: "SEAL computes on our files and we on its; the guide From TenSEAL works", depth: Depth::Usual, beside: false, needs: &[&C_COMPILER, &PYTHON_VENV], run: seal::wheel },
    Suite { name: "lab-page", shows: "the lab's report in a browser, on a desk and on a telephone", depth: Depth::Usual, beside: true, needs: &[&C_COMPILER, &CHROMIUM], run: lab_page::run },
    Suite { name: "paillier", shows: "Paillier agrees with python-paillier both ways", depth: Depth::Usual, beside: false, needs: &[&C_COMPILER, &PYTHON_VENV], run: paillier::run },
    Suite { name: "microcontroller", shows: "the device's encryptor on small cores: bytes, instructions, and its messages are the host's", depth: Depth::Usual, beside: false, needs: &[&C_COMPILER, &SMALL_CORES, &QEMU_SYSTEM], run: microcontroller::run },
    Suite { name: "no-std", shows: "six crates need `alloc` only", depth: Depth::Usual, beside: false, needs: &[&NO_STD], run: no_std::run },
    Suite { name: "programs", shows: "the Rust programs of README and guide compile as copied, with `sotto-he` alone, and answer", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: programs::run },
    Suite { name: "features", shows: "each feature compiles alone, and tests of crates without the standard library pass", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: no_std::features },
    Suite { name: "optimised", shows: "the tests pass as benches are compiled: every crate at level 3", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: compile::optimised },
    Suite { name: "checked", shows: "the tests pass with overflow checks and debug assertions", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: compile::checked },
    Suite { name: "ask-deep", shows: "200 days with agents stopped and killed: nothing is lost, nothing counts twice", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: ask::deep },
    Suite { name: "readings-deep", shows: "20,000 messes of plain gauges, and of all kinds of channels, give the packed windows of the clean series", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: readings::deep },
    Suite { name: "owner-deep", shows: "10,000 random histories of the plant's folder", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: owner::deep },
    Suite { name: "durable-deep", shows: "an hour of kills and full disks: nothing is lost, nothing counts twice", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: durable::deep },
    Suite { name: "warehouse", shows: "DuckDB, Polars and Spark add exported windows up to sums that sotto opens, and the guide shows it", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER, &PYTHON_VENV, &JAVA], run: guide::warehouse },
    Suite { name: "telegraf", shows: "Telegraf itself before a gateway that is killed: each of its readings is in the owner's answers, once", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER, &GO], run: gateway::with_telegraf },
    Suite { name: "kills", shows: "a cloud killed 1,000 times while windows come in and are sealed: what it confirmed is there, once", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: compile::kills },
    Suite { name: "scaleout", shows: "the lake gives the cloud's sums bit for bit, on one machine and on workers, whatever fails; the guide More than one machine", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER, &PYTHON_VENV], run: scaleout::run },
    Suite { name: "differential-deep", shows: "1,000 random programs a scheme give SEAL's and Lattigo's answers", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER, &PYTHON_VENV, &GO], run: differential::all },
    Suite { name: "emulation", shows: "10,000 random programs over the partial schemes give the answers in the clear", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: compile::emulation },
    Suite { name: "seal-bgv", shows: "SEAL in Pyfhel computes on our BGV files and we on its", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER, &PYTHON_VENV], run: seal::bgv },
    Suite { name: "sanitised", shows: "the mathematics' tests pass under the address sanitiser", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER, &NIGHTLY], run: compile::sanitised },
    Suite { name: "targets", shows: "the mathematics' tests pass on every kernel target of this machine", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: compile::targets },
    Suite { name: "avx512", shows: "the tests of kernels and ring pass with AVX-512, emulated where the processor lacks it", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER, &AVX512], run: avx512::run },
    Suite { name: "aarch64", shows: "the mathematics' tests pass on 64-bit ARM", depth: Depth::Deep, beside: false, needs: &[&AARCH64_STD, &AARCH64_CC, &QEMU_AARCH64], run: compile::aarch64 },
    Suite { name: "arm-instructions", shows: "no kernel takes more instructions on 64-bit ARM than the scalar one", depth: Depth::Deep, beside: false, needs: &[&AARCH64_STD, &AARCH64_CC, &QEMU_AARCH64], run: arm_instructions::run },
    Suite { name: "lab-device", shows: "the lab as one static program for 64-bit ARM, emulated", depth: Depth::Deep, beside: false, needs: &[&AARCH64_MUSL, &AARCH64_CC, &QEMU_AARCH64], run: lab_device::run },
    Suite { name: "dist", shows: "static programs for three kinds of machine, the same bytes from two folders, with their components", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER, &PYTHON], run: dist::run },
    Suite { name: "python-deep", shows: "`pip install ./bindings/python`; all tests of the package, with 20,000 random programs that agree with NumPy", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER, &PYTHON_VENV], run: python::deep },
    Suite { name: "wheels", shows: "wheels for Linux and macOS on two processors, with and without the interpreter's lock", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER, &PYTHON_VENV], run: wheels::run },
    Suite { name: "miri", shows: "kernels and ring at n = 16 have no undefined behaviour", depth: Depth::Deep, beside: false, needs: &[&NIGHTLY, &MIRI], run: compile::miri },
    Suite { name: "fuzz-deep", shows: "libFuzzer finds nothing in 100,000 executions of each target (SOTTO_FUZZ_RUNS)", depth: Depth::Deep, beside: false, needs: &[&CPP_COMPILER], run: fuzz::coverage },
    Suite { name: "noise", shows: "measured noise, estimate and bound agree over many random programs, compact inputs among them", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: compile::noise },
    Suite { name: "timing", shows: "the time of encryption and decryption does not depend on secrets", depth: Depth::Deep, beside: false, needs: &[&C_COMPILER], run: compile::timing },
];
