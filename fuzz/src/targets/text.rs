//! Expressions.

use sotto_program::{ParseOptions, parse};

use super::{Inputs, Target};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    // Bounded by the limits of programs: 100,000 operations, whatever they are written with.
    Target { name: "expression", run: |bytes| expression(bytes, false), inputs: Inputs::Kept(expressions), memory: |bytes| 64 * bytes.len() + (32 << 20) },
    Target { name: "expression-encrypted", run: |bytes| expression(bytes, true), inputs: Inputs::Kept(|| [expressions(), numbers()].concat()), memory: |bytes| 64 * bytes.len() + (32 << 20) },
];

fn expressions() -> Vec<Vec<u8>> {
    [
        "3*4+3",
        "x^2 - 2*x*y + y^2",
        "sum(x*y, 8) / 1",
        "rotate(x, -3) + rotate(sum(x), 1)",
        "-(x+1.5e3)*[1, -2.25, 3e-2]^3",
        "((((x))))^1024",
        "temperature_1.mean*0x10",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Without names: every number is encrypted.
fn numbers() -> Vec<Vec<u8>> {
    ["-(2+1.5)*(3-0.25)^3", "((((7))))^16 - 2*(1e3+4)", "(1+2)*(3+4)*(5-6)"]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

/// What is accepted is a valid program; what is refused can be shown, with a mark under the character.
fn expression(bytes: &[u8], encrypted: bool) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let options = if encrypted {
        ParseOptions::encrypted_literals()
    } else {
        ParseOptions { undeclared: Some(10.0), sum_width: Some(8), ..ParseOptions::default() }
    };
    match parse(&text, &options) {
        Ok(parsed) => {
            let _ = (parsed.literal_integers(), parsed.literal_reals());
            assert_eq!(parsed.program.outputs().len(), 1);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}
