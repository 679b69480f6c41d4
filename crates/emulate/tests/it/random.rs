//! Random programs give the same answers in all modes as in the clear.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use sotto_emulate::{LowerError, Products};
use sotto_program::{NodeId, Program, ProgramBuilder};

use super::setting::{MODES, SETTING, lower, meaning};

/// Returns the number of programs; `cargo ci emulation` asks for 10,000.
fn programs() -> u64 {
    std::env::var("SOTTO_EMULATION").ok().and_then(|count| count.parse().ok()).unwrap_or(100)
}

fn below(rng: &mut ChaCha20Rng, end: usize) -> usize {
    (rng.next_u64() % end as u64) as usize
}

/// Draws a program: inputs of 1 to 16 bits, operations on random earlier nodes, the last nodes as answers.
/// Also draws values in the declared ranges, often at their ends or zero.
fn draw(rng: &mut ChaCha20Rng) -> (Program, Vec<i128>) {
    let mut asked = ProgramBuilder::new();
    let (mut nodes, mut values): (Vec<NodeId>, Vec<i128>) = (Vec::new(), Vec::new());
    for input in 0..1 + below(rng, 5) {
        let most = i128::from(rng.next_u64() >> (48 + below(rng, 16))).max(1);
        nodes.push(asked.input(format!("x{input}"), most as f64));
        values.push(match below(rng, 5) {
            0 => most,
            1 => -most,
            2 => 0,
            _ => i128::from(rng.next_u64()) % (most + 1) * if below(rng, 2) == 0 { 1 } else { -1 },
        });
    }
    for _ in 0..2 + below(rng, 14) {
        let (a, b) = (nodes[below(rng, nodes.len())], nodes[below(rng, nodes.len())]);
        nodes.push(match below(rng, 10) {
            0..=3 => asked.mul(a, b),
            4 | 5 => asked.add(a, b),
            6 | 7 => asked.sub(a, b),
            8 => asked.neg(a),
            _ => {
                let sizes = [0, 1, -1, 3, -12, 1000];
                asked.integer(sizes[below(rng, sizes.len())])
            }
        });
    }
    for (output, node) in nodes.iter().rev().take(1 + below(rng, 3)).enumerate() {
        asked.output(format!("y{output}"), *node);
    }
    (asked.finish().unwrap(), values)
}

#[test]
fn random_programs_mean_what_they_mean_in_the_clear() {
    let setting = &*SETTING;
    let (mut done, mut refused, mut requests) = (0, 0, [0; MODES.len()]);
    for seed in 0.. {
        if done == programs() {
            break;
        }
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let (program, values) = draw(&mut rng);
        // A program that is too large for one mode is skipped; the blinded mode allows more.
        let flows: Result<Vec<_>, LowerError> =
            MODES.iter().map(|(products, _)| lower(&program, *products)).collect();
        let flows = match flows {
            Ok(flows) => flows,
            Err(LowerError::Range { .. } | LowerError::ElGamalRange { .. }) => {
                refused += 1;
                continue;
            }
            Err(other) => panic!("program {seed}: {other}"),
        };
        let expected = meaning(&program, &values);
        for (mode, (flow, (products, schedule))) in flows.iter().zip(MODES).enumerate() {
            let found = setting.answers(flow, &values, &setting.recryptor, schedule).unwrap();
            assert_eq!(found, expected, "program {seed}, {products:?}, {schedule:?}\n{program:?}\n{flow}");
            requests[mode] += flow.requests();
            assert_eq!(flow.seen().is_empty(), products == Products::Blinded || flow.requests() == 0);
        }
        done += 1;
    }
    println!("{done} programs a mode, requests {requests:?}; {refused} more were refused for their ranges");
    // The programs must not be trivial.
    assert!(requests.iter().all(|count| *count as u64 > done), "{requests:?}");
}
