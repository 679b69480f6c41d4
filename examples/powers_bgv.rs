//! x⁸ modulo 1032193 of 1, 2, 3, 4 at once, in BGV: many integers in one ciphertext, modulus switching between
//! products.

use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::secure_rng;
use sotto_rlwe::{Bgv, Evaluator, Params, Scheme};

fn main() -> anyhow::Result<()> {
    let mut rng = secure_rng()?;
    let plain_modulus = 1_032_193;
    let params = Params::<Bgv>::default_chain(8192, plain_modulus)?;
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = secret.evaluation_keys(true, &[], &mut rng)?;

    let values = [1, 2, 3, 4];
    let plaintext = Bgv::encode_slots(&params, &values, params.top_level())?;
    let mut power = secret.encrypt(&plaintext, &mut rng)?.expand();

    let evaluator = Evaluator::new(&params);
    for exponent in [2, 4, 8] {
        // Dropping a prime before every product but the first keeps the noise small.
        if exponent > 2 {
            power = evaluator.drop_modulus(&power)?;
        }
        power = evaluator.relinearise(&evaluator.square(&power)?, &keys)?;
        println!(
            "x^{exponent}: level {}, at least {:.0} bits left, {:.0} expected",
            power.level(),
            power.shape().room(&params),
            power.shape().estimated_room(&params)
        );
    }

    let slots = Decryptor::new(&secret).slots(&power)?.into_residues();
    for (x, found) in values.iter().zip(slots) {
        let expected = x.pow(8).rem_euclid(plain_modulus as i64);
        let found = found.rem_euclid(plain_modulus as i64);
        println!("{x}^8 mod {plain_modulus} = {found}");
        anyhow::ensure!(found == expected, "{x}^8 is {expected}, not {found}");
    }
    Ok(())
}
