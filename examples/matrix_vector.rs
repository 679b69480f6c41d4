//! A 64 × 64 matrix times an encrypted vector, in CKKS: by diagonals, baby steps and giant steps, hoisted. The matrix
//! is public, the vector is encrypted.

use sotto_circuits::{Encrypted, Transform};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::secure_rng;
use sotto_rlwe::{Ckks, Evaluator, Params};

const SIZE: usize = 64;

fn main() -> anyhow::Result<()> {
    let mut rng = secure_rng()?;
    let params = Params::<Ckks>::default_chain(8192, 0)?;
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);

    // Any matrix will do; this one is a moving average with a slope.
    let entry = |row: usize, column: usize| 1.0 / (1.0 + row.abs_diff(column) as f64) / 4.0;
    let entries: Vec<f64> = (0..SIZE * SIZE).map(|i| entry(i / SIZE, i % SIZE)).collect();
    let transform = Transform::new(&entries, SIZE, SIZE, params.degree() / 2)?;
    // The transform lists its rotations, so that the owner makes only their keys.
    let keys = secret.evaluation_keys(false, &transform.steps(), &mut rng)?;
    println!("{} rotations, {} Galois keys", transform.rotations(), keys.galois.len());

    // The vector is repeated to fill the slots, so that rotations go around it.
    let vector: Vec<f64> = (0..SIZE).map(|i| (i as f64 / 10.0).sin()).collect();
    let plaintext = params.encode_repeated(&vector, params.top_level())?;
    let encrypted = secret.encrypt(&plaintext, &mut rng)?.expand();

    let evaluator = Evaluator::new(&params);
    let product = transform.apply(&mut Encrypted::new(&evaluator, &keys), &encrypted)?;

    let decrypted = Decryptor::new(&secret).repeated(&product, SIZE)?;
    let bits = decrypted.publishable_bits();
    let error = decrypted.published_error(bits);
    let found = decrypted.publish(bits)?;
    let expected = |row: usize| (0..SIZE).map(|column| entry(row, column) * vector[column]).sum::<f64>();
    let off = (0..SIZE).map(|row| (expected(row) - found[row]).abs()).fold(0.0, f64::max);
    println!("matrix · vector: off by {off:.1e}, at most {error:.1e} promised");
    anyhow::ensure!(off <= error, "off by {off:e}, more than the {error:e} promised");
    Ok(())
}
