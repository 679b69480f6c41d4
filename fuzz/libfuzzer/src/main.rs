//! Runs one target under libFuzzer, selected by SOTTO_FUZZ_TARGET. `cargo ci fuzz-deep` builds and runs this program.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sotto_fuzz::Target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("SOTTO_FUZZ_TARGET").expect("SOTTO_FUZZ_TARGET names a target");
    sotto_fuzz::target(&name).expect("there is a target of this name")
});

fuzz_target!(|bytes: &[u8]| {
    (TARGET.run)(bytes);
});
