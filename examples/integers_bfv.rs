//! 4·(x² + 1)·(x + 1)² modulo 1024 at x = 6, in BFV: exact integers, one value in each ciphertext.

use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::secure_rng;
use sotto_rlwe::{Addend, Bfv, Ciphertext, Evaluator, Params, Scheme};

fn main() -> anyhow::Result<()> {
    let mut rng = secure_rng()?;
    let params = Params::<Bfv>::default_chain(8192, 1024)?;
    let top = params.top_level();

    // The owner makes the keys; the cloud gets the relinearisation key, the device the public key.
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let public = secret.public_key(&mut rng);
    let keys = secret.evaluation_keys(true, &[], &mut rng)?;

    // The device encrypts.
    let x = public.encrypt(&Bfv::encode_scalar(&params, 6, top)?, &mut rng)?;

    // The cloud computes. A product has three components until it is relinearised.
    let evaluator = Evaluator::new(&params);
    let one = Addend::new(&params, &Bfv::encode_scalar(&params, 1, top)?, top, ());
    let square = |a: &Ciphertext<Bfv>| evaluator.relinearise(&evaluator.square(a)?, &keys);
    let x_squared_plus_one = evaluator.add_plain(&square(&x)?, &one)?;
    let x_plus_one_squared = square(&evaluator.add_plain(&x, &one)?)?;
    let product = evaluator.multiply(&x_squared_plus_one, &x_plus_one_squared)?;
    let result = evaluator.multiply_scalar(&evaluator.relinearise(&product, &keys)?, 4)?;

    // The owner decrypts. BFV returns the centred representative.
    let value = Decryptor::new(&secret).scalar(&result)?.into_residues().rem_euclid(1024);
    let expected = 4 * (6 * 6 + 1) * (6 + 1) * (6 + 1) % 1024;
    println!("4(x² + 1)(x + 1)² mod 1024 at x = 6 is {value}");
    println!(
        "noise: at least {:.0} bits left, {:.0} expected",
        result.shape().room(&params),
        result.shape().estimated_room(&params)
    );
    anyhow::ensure!(value == expected, "the answer is {value}, not {expected}");
    Ok(())
}
