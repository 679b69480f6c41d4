//! Ten lines: a sum of squares of three encrypted readings.

use sotto::{Ckks, Context};

fn main() -> sotto::Result<()> {
    let context = Context::<Ckks>::for_depth(2)?;
    let (secret, _public) = context.keys(&mut sotto::secure_rng()?)?;
    let x = secret.encrypt(&[20.5, 21.0, 18.5])?;
    let y = ((&x * &x)? + 1.5)?;
    println!("{}", secret.decrypt(&y.sum()?)?);
    Ok(())
}
