//! Rotations of slots: one by one, hoisted, rows swapped; and the sum of all slots by rotations and additions.

use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{Scratch, secure_rng};
use sotto_rlwe::{Bfv, Ciphertext, Evaluator, Params, Scheme};

fn main() -> anyhow::Result<()> {
    let mut rng = secure_rng()?;
    let params = Params::<Bfv>::default_chain(8192, 786_433)?;
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    // The keys of all powers of two suffice to compose every rotation.
    let keys = secret.evaluation_keys(false, &params.power_of_two_steps(), &mut rng)?;
    let decryptor = Decryptor::new(&secret);
    let evaluator = Evaluator::new(&params);

    // Two rows of n/2 slots.
    let row = params.degree() / 2;
    let values: Vec<i64> = (0..2 * row as i64).collect();
    let plaintext = Bfv::encode_slots(&params, &values, params.top_level())?;
    let readings = secret.encrypt(&plaintext, &mut rng)?.expand();
    let slots = |ciphertext: &Ciphertext<Bfv>| anyhow::Ok(decryptor.slots(ciphertext)?.into_residues());

    let left = slots(&evaluator.rotate(&readings, 1, &keys)?)?;
    anyhow::ensure!(left[..3] == [1, 2, 3] && left[row - 1] == 0, "each row moves left by one");
    let swapped = slots(&evaluator.swap_rows(&readings, &keys)?)?;
    anyhow::ensure!(swapped[0] == row as i64 && swapped[row] == 0, "the rows change places");

    // Many rotations of one ciphertext share the expensive decomposition.
    let mut scratch = Scratch::new();
    let hoisted = evaluator.hoist(&readings, &mut scratch)?;
    for step in [1, 2, 4, -8] {
        let moved = slots(&evaluator.rotate_hoisted(&hoisted, step, &keys, &mut scratch)?)?;
        let expected = i64::from(step).rem_euclid(row as i64);
        anyhow::ensure!(moved[0] == expected, "slot 0 is {}, not {expected}", moved[0]);
    }

    // Sums all slots: each row by doubling, then both rows.
    let mut sum = readings.clone();
    let mut step = 1;
    while step < row as i32 {
        sum = evaluator.add(&sum, &evaluator.rotate(&sum, step, &keys)?)?;
        step *= 2;
    }
    sum = evaluator.add(&sum, &evaluator.swap_rows(&sum, &keys)?)?;
    let total = slots(&sum)?[0].rem_euclid(786_433);
    let expected = values.iter().sum::<i64>() % 786_433;
    println!("the sum of 0 … {} modulo 786433 is {total}", 2 * row - 1);
    anyhow::ensure!(total == expected, "the sum is {expected}, not {total}");
    Ok(())
}
