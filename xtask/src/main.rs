//! `cargo demo`, `cargo ci` and `cargo xtask guide`: the commands of a checkout.

#[cfg(feature = "ci")]
mod beside;
#[cfg(feature = "ci")]
mod built;
#[cfg_attr(not(feature = "ci"), allow(dead_code, reason = "the suites use the rest"))]
mod cargo;
#[cfg(feature = "ci")]
mod ci;
#[cfg(feature = "ci")]
mod compilations;
mod demo;
#[cfg(feature = "ci")]
mod guide;
#[cfg(feature = "ci")]
mod process;
#[cfg(feature = "ci")]
mod suite;
#[cfg(feature = "ci")]
mod suites;
#[cfg_attr(not(feature = "ci"), allow(dead_code, reason = "the suites use the rest"))]
mod tools;

use std::process::ExitCode;

const USAGE: &str = "\
cargo demo [ARGS…]      build the three programs and run `sotto demo ARGS…`
cargo ci                run every suite but the deep ones
cargo ci quick          run the quick ones
cargo ci deep           run every suite
cargo ci SUITE…         run the named suites
cargo ci --list         name the suites
cargo ci --count …      count compilations
cargo xtask guide       run the commands of the guides in docs/guides and write their output into them
cargo xtask guide --check    compare them instead
cargo xtask cases       run every case of SOTTO_CASES and write docs/reference/cases.md";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    #[cfg(feature = "ci")]
    if let Some(code) = compilations::compile(&args) {
        return code;
    }
    let done = match args.split_first() {
        Some((command, rest)) if command == "demo" => demo::run(rest),
        #[cfg(feature = "ci")]
        Some((command, rest)) if command == "ci" => ci::run(rest),
        #[cfg(feature = "ci")]
        Some((command, rest)) if command == "guide" => guide::run(rest),
        #[cfg(feature = "ci")]
        Some((command, rest)) if command == "cases" => suites::cases(rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
