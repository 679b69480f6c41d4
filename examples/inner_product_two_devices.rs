//! An inner product over two devices with different keys: the cloud switches the second device's ciphertext to the
//! first one's key, and multiplies. It can decrypt neither.

use sotto_circuits::{Encrypted, block_steps, inner_product};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::secure_rng;
use sotto_rlwe::{Bgv, Evaluator, Params, Scheme};

fn main() -> anyhow::Result<()> {
    let mut rng = secure_rng()?;
    let plain_modulus = 786_433;
    let params = Params::<Bgv>::default_chain(8192, plain_modulus)?;
    let count = 64;
    let flow: Vec<i64> = (0..count).map(|i| 20 + i % 7).collect();
    let warmth: Vec<i64> = (0..count).map(|i| 50 - i % 11).collect();

    // Each device encrypts with its own secret key.
    let first = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let second = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let encrypt = |key: &SecretKey<Bgv>, values: &[i64], rng: &mut _| {
        let plaintext = Bgv::encode_slots(&params, values, params.top_level())?;
        anyhow::Ok(key.encrypt(&plaintext, rng)?.expand())
    };
    let a = encrypt(&first, &flow, &mut rng)?;
    let b = encrypt(&second, &warmth, &mut rng)?;

    // The owner of both devices makes the transfer key that switches ciphertexts of the second to the key of the first.
    let steps = block_steps(count as usize);
    let mut keys = first.evaluation_keys(true, &steps, &mut rng)?;
    keys.transfers.insert(second.id(), first.transfer_key(&second, &mut rng)?);

    // The cloud.
    let evaluator = Evaluator::new(&params);
    anyhow::ensure!(evaluator.multiply(&a, &b).is_err(), "ciphertexts under two keys do not mix");
    let b = evaluator.switch_key(&b, &keys)?;
    let sum = inner_product(&mut Encrypted::new(&evaluator, &keys), &a, &b, count as usize)?;

    // Products of readings up to 26 and 50: their sum is less than half the plain modulus, so that nothing wraps
    // around.
    let found = Decryptor::new(&first).slots(&sum)?.into_exact(26.0 * 50.0 * count as f64)?[0];
    let expected: i64 = flow.iter().zip(&warmth).map(|(x, y)| x * y).sum();
    println!("Σ flow · warmth over two devices is {found}");
    anyhow::ensure!(found == expected, "the inner product is {expected}, not {found}");
    anyhow::ensure!(Decryptor::new(&second).slots(&sum).is_err(), "the answer is under the first key only");
    Ok(())
}
