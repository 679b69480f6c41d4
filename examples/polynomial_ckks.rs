//! π·x³ + 0.4·x + 1 over 4096 points between 0 and 1, in CKKS: real numbers with a known bound on the error.

use sotto_circuits::{Encrypted, Polynomial};
use sotto_decrypt::{Decrypted, Decryptor};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::secure_rng;
use sotto_rlwe::{Addend, Ckks, Evaluator, Multiplier, Params, Scheme};

fn main() -> anyhow::Result<()> {
    let mut rng = secure_rng()?;
    let params = Params::<Ckks>::default_chain(8192, 0)?;
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let public = secret.public_key(&mut rng);
    let keys = secret.evaluation_keys(true, &[], &mut rng)?;

    let points: Vec<f64> = (0..4096).map(|i| f64::from(i) / 4095.0).collect();
    let x = public.encrypt(&Ckks::encode_slots(&params, &points, params.top_level())?, &mut rng)?;

    let evaluator = Evaluator::new(&params);
    // Multiplies by a constant and rescales.
    let times = |a: &_, constant: f64| {
        let plaintext = Ckks::encode_scalar(&params, constant, sotto_rlwe::Ciphertext::level(a))?;
        let product = evaluator.multiply_plain(a, &Multiplier::new(&params, &plaintext, a.level()))?;
        anyhow::Ok(evaluator.drop_modulus(&product)?)
    };
    let x_squared = evaluator.drop_modulus(&evaluator.relinearise(&evaluator.square(&x)?, &keys)?)?;
    let pi_x = times(&x, core::f64::consts::PI)?;
    let cubic = evaluator.relinearise(&evaluator.multiply(&x_squared, &pi_x)?, &keys)?;
    let cubic = evaluator.drop_modulus(&cubic)?;
    // The linear term is lowered to the level and the exact scale of the cubic one.
    let linear = evaluator.lower(&times(&x, 0.4)?, cubic.level())?;
    let sum = evaluator.add(&cubic, &linear)?;
    let one = Ckks::encode_scalar(&params, 1.0, sum.level())?;
    let result = evaluator.add_plain(&sum, &Addend::new(&params, &one, sum.level(), sum.shape().scaling))?;

    // A circuit does all of this for any polynomial, in the fewest possible levels.
    let polynomial = Polynomial::new(vec![1.0, 0.4, 0.0, core::f64::consts::PI]);
    let again = polynomial.evaluate(&mut Encrypted::new(&evaluator, &keys), &x)?;

    check("step by step", Decryptor::new(&secret).slots(&result)?, &points)?;
    check("by the circuit", Decryptor::new(&secret).slots(&again)?, &points)
}

fn check(what: &str, decrypted: Decrypted<Vec<f64>>, points: &[f64]) -> anyhow::Result<()> {
    // Published values are rounded to a step that hides the noise.
    let bits = decrypted.publishable_bits();
    let error = decrypted.published_error(bits);
    let values = decrypted.publish(bits)?;
    let exact = |x: f64| core::f64::consts::PI * x * x * x + 0.4 * x + 1.0;
    let off = points.iter().zip(&values).map(|(x, y)| (exact(*x) - y).abs()).fold(0.0, f64::max);
    println!("πx³ + 0.4x + 1 over 4096 points, {what}: off by {off:.1e}, at most {error:.1e} promised");
    anyhow::ensure!(off <= error, "{what}: off by {off:e}, more than the {error:e} promised");
    Ok(())
}
