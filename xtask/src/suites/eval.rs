//! Runs `sotto eval` over a list of expressions and checks the output.

use crate::cargo;
use crate::process::{self, Finished, Times};
use crate::suite::{Context, Outcome};
use anyhow::Result;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// (expression, result modulo 1021, true if it wraps).
const MODULO_1021: [(&str, i64, bool); 14] = [
    ("3+4", 7, false),
    ("3*4", 12, false),
    ("4-3", 1, false),
    ("30+40", 70, false),
    ("300+400", 700, false),
    ("444+555", 999, false),
    ("349+459", 808, false),
    ("559+661", 199, true),
    ("10*10", 100, false),
    ("25*25", 625, false),
    ("30*30", 900, false),
    ("31*31", 961, false),
    ("30*34", 1020, false),
    ("3*4+3", 15, false),
];

/// (expression, further arguments, result, true if it wraps).
const OTHERS: [(&str, &[&str], i64, bool); 14] = [
    ("3*4", &["--plain-modulus", "29"], 12, false),
    ("5*6", &["--plain-modulus", "29"], 1, true),
    ("7*8", &["--plain-modulus", "61"], 56, false),
    ("20*25", &["--plain-modulus", "509"], 500, false),
    ("200*300", &[], 60_000, false),
    ("300*300", &[], 90_000, false),
    ("300*300", &["--plain-modulus", "65537"], 24_463, true),
    ("5-8", &[], -3, false),
    ("-7*1000003", &[], -7_000_021, false),
    ("2^20*2^20", &[], 1_099_511_627_776, false),
    // Beyond the integers that f64 holds exactly.
    ("123456789*987654321", &[], 121_932_631_112_635_269, false),
    ("9007199254740993+0", &[], 9_007_199_254_740_993, false),
    ("3-4", &["--plain-modulus", "1021", "--signed"], -1, false),
    ("(2+3)*(4-1)-2*2*2", &["--plain-modulus", "65537"], 7, false),
];

/// With the partially homomorphic schemes: (scheme, expression, its value, true if it wraps).
const PARTIAL: [(&str, &str, i64, bool); 19] = [
    ("paillier", "3+4", 7, false),
    ("paillier", "3-4", -1, false),
    ("paillier", "-3-(4-5)+1000000007", 1_000_000_005, false),
    ("elgamal", "3*4", 12, false),
    ("elgamal", "-3*4*5*0", 0, false),
    ("elgamal", "-3*4*5", -60, false),
    ("elgamal", "4294967296*4294967297", 4_294_967_296, true),
    ("elgamal-ristretto", "3+4", 7, false),
    ("elgamal-ristretto", "3-4", -1, false),
    ("paillier+elgamal", "3*4+3", 15, false),
    ("paillier+elgamal", "(2+3)*(4-6)", -10, false),
    ("paillier+elgamal", "-7*0*(3-5)-2^10", -1024, false),
    ("paillier-blinded", "3*4+3", 15, false),
    ("paillier-blinded", "(2+3)*(4-6)", -10, false),
    ("paillier-blinded", "-7*0*(3-5)-2^10", -1024, false),
    ("paillier-blinded", "4294967296*1048576", 4_503_599_627_370_496, false),
    ("paillier-blinded", "3-4", -1, false),
    // Beyond the integers that f64 holds exactly.
    ("paillier", "9007199254740992+1", 9_007_199_254_740_993, false),
    ("paillier-blinded", "9007199254740992*1+1", 9_007_199_254_740_993, false),
];

/// Operations that a scheme lacks.
const LACKING: [(&str, &str); 5] = [
    ("paillier", "3*4"),
    ("elgamal", "3+4"),
    ("elgamal-ristretto", "3*4"),
    ("paillier+elgamal", "4294967296*4294967296"),
    ("paillier-blinded", "9^50"),
];

/// (expression, its value).
const REALS: [(&str, f64); 3] = [("3*4+3", 15.0), ("1.5*2.25-0.125", 3.25), ("3-4", -1.0)];

/// (expression, true if its bound is smaller than its largest possible value), of real numbers.
const USEFUL: [(&str, bool); 3] = [("0.1+0.2", true), ("0.0001*0.0001", false), ("1e-5+1e-7", false)];

/// Expressions that are too large for the scheme: (expression, scheme, words of the refusal).
const TOO_LARGE: [(&str, &str, [&str; 2]); 3] = [
    ("2^200", "ckks", ["as large as 1.6e60", "magnitude"]),
    ("1e300*1", "ckks", ["as large as 1.0e300", "magnitude"]),
    ("(1000000)^24", "bfv", ["as large as 1.0e144", "magnitude"]),
];

/// Expressions that are refused with a mark under the place.
const MALFORMED: [&str; 5] = ["3*)4", "(3+4", "3 4", "", "3+x?"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let sotto = context.built()?.program("sotto")?;
    let mut faults = Vec::new();
    for scheme in ["bgv", "bfv"] {
        for (expression, result, wrapped) in MODULO_1021 {
            let args = ["--scheme", scheme, "--plain-modulus", "1021"];
            faults.extend(integer(sotto, expression, &args, result, wrapped)?);
        }
        for (expression, more, result, wrapped) in OTHERS {
            let args = [&["--scheme", scheme], more].concat();
            faults.extend(integer(sotto, expression, &args, result, wrapped)?);
        }
    }
    for (scheme, expression, result, wrapped) in PARTIAL {
        faults.extend(integer(sotto, expression, &["--scheme", scheme], result, wrapped)?);
    }
    for (scheme, expression) in LACKING {
        let done = eval(sotto, expression, &["--scheme", scheme])?;
        if done.status.success()
            || !["use --scheme", "take blinded products", "use a lattice scheme"]
                .iter()
                .any(|way| done.stderr.contains(way))
        {
            faults.push(format!("`{expression}` --scheme {scheme} was not refused with the way out"));
        }
    }
    for (expression, result) in REALS {
        faults.extend(real(sotto, expression, result)?);
    }
    for (expression, useful) in USEFUL {
        let done = eval(sotto, expression, &["--scheme", "ckks", "--json"])?;
        let judged =
            report(&done).and_then(|report| same("useful", report["useful"].as_bool(), Some(useful)));
        faults.extend(judged.err().map(|why| format!("`{expression}`: {why}")));
    }
    for (expression, scheme, named) in TOO_LARGE {
        let done = eval(sotto, expression, &["--scheme", scheme])?;
        let short = done.stderr.len() < 400 && named.iter().all(|word| done.stderr.contains(word));
        if done.status.success() || !short {
            faults.push(format!("`{expression}` was not refused for its size: {}", done.stderr.trim()));
        }
    }
    for expression in MALFORMED {
        let done = eval(sotto, expression, &["--scheme", "bfv"])?;
        if done.status.success()
            || !done.stderr.lines().any(|line| line.trim_start_matches([' ', '|']) == "^")
        {
            faults.push(format!(
                "`{expression}` was not refused with a mark under the place: {}",
                done.stderr.trim()
            ));
        }
    }
    let cases = 2 * (MODULO_1021.len() + OTHERS.len())
        + PARTIAL.len()
        + LACKING.len()
        + REALS.len()
        + USEFUL.len()
        + TOO_LARGE.len()
        + MALFORMED.len();
    println!("{cases} expressions");
    Ok(Outcome::from_faults(faults))
}

fn integer(
    sotto: &Path,
    expression: &str,
    args: &[&str],
    result: i64,
    wrapped: bool,
) -> Result<Option<String>> {
    let done = eval(sotto, expression, &[args, &["--json"]].concat())?;
    let judged = report(&done).and_then(|report| {
        same("result", report["result"].as_i64(), Some(result))?;
        same("wrapped", report["wrapped"].as_bool(), Some(wrapped))?;
        if let Some(at) = args.iter().position(|arg| *arg == "--plain-modulus") {
            let modulus = report["parameters"]["plain_modulus"].as_u64().map(|value| value.to_string());
            same("parameters.plain_modulus", modulus.as_deref(), args.get(at + 1).copied())?;
        }
        in_order(&report)
    });
    Ok(judged.err().map(|why| format!("`{expression}` {}: {why}", args.join(" "))))
}

fn real(sotto: &Path, expression: &str, result: f64) -> Result<Option<String>> {
    let done = eval(sotto, expression, &["--scheme", "ckks", "--json"])?;
    let judged = report(&done).and_then(|report| {
        let bound = report["bound"].as_f64().filter(|bound| *bound < 1e-3);
        let bound = bound.ok_or_else(|| format!("the bound is {}", report["bound"]))?;
        match report["result"].as_f64() {
            Some(value) if (value - result).abs() <= bound => in_order(&report),
            value => Err(format!("the result is {value:?}, not {result} within {bound}")),
        }
    });
    Ok(judged.err().map(|why| format!("`{expression}` --scheme ckks: {why}")))
}

/// Checks the conditions that hold under every scheme.
fn in_order(report: &Value) -> Result<(), String> {
    let [error, bound] = ["error", "bound"].map(|key| report[key].as_f64());
    if !matches!((error, bound), (Some(error), Some(bound)) if (0.0..=bound).contains(&error)) {
        return Err(format!("the error {error:?} is not within the bound {bound:?}"));
    }
    if report["parameters"]["security_bits"].as_u64().is_none_or(|bits| bits < 128) {
        return Err(format!("the parameters are {}", report["parameters"]));
    }
    let full = |key: &str| report[key].as_array().is_some_and(|a| !a.is_empty());
    if full("phases") { Ok(()) } else { Err("there are no phases".to_owned()) }
}

fn report(done: &Finished) -> Result<Value, String> {
    if !done.status.success() {
        return Err(format!("{}; it said: {}", done.status, done.stderr.trim()));
    }
    serde_json::from_str(&done.stdout).map_err(|error| format!("no JSON: {error}"))
}

fn same<T: PartialEq + Copy + std::fmt::Debug>(
    name: &str,
    found: Option<T>,
    wanted: Option<T>,
) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{name} is {found:?}, not {wanted:?}")) }
}

fn eval(sotto: &Path, expression: &str, args: &[&str]) -> Result<Finished> {
    let times = Times { interrupt_after: None, give_up_after: Duration::from_secs(60) };
    process::run(cargo::command(sotto).args(["eval", expression]).args(args), &times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_agrees_with_itself() {
        for (expression, result, wrapped) in MODULO_1021 {
            assert!((0..1021).contains(&result));
            let two = |op: char| {
                expression
                    .split_once(op)
                    .and_then(|(a, b)| Some((a.parse::<i64>().ok()?, b.parse::<i64>().ok()?)))
            };
            let value = two('+')
                .map(|(a, b)| a + b)
                .or(two('*').map(|(a, b)| a * b))
                .or(two('-').map(|(a, b)| a - b));
            if let Some(value) = value {
                assert_eq!((value % 1021, value >= 1021), (result, wrapped), "{expression}");
            }
        }
    }
}
