//! Prints the tables of docs/concepts/parameters.md: the default chains, and the cost of digits.

use sotto_rlwe::{ChainRequest, DefaultChain, ParameterError, SchemeId, SecurityTarget};

fn main() -> Result<(), ParameterError> {
    println!("| n | scheme | special | q_0 | others | levels | digits | data bits | all bits | limit |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (scheme, name) in [(SchemeId::Bfv, "BFV, BGV"), (SchemeId::Ckks, "CKKS")] {
        for chain in DefaultChain::all(scheme) {
            let spec = DefaultChain::spec(scheme, chain.degree, 65537)?;
            let digits = if spec.data.len() == 1 { 0 } else { spec.data.len().div_ceil(spec.digit_primes) };
            let limit = SecurityTarget::default().limit(chain.degree)?;
            let ((special_bits, special), (bits, count)) = (chain.special, chain.others);
            println!(
                "| {} | {name} | {special} × {special_bits} | {} | {count} × {bits} | {count} | {digits} | {:.1} | {:.1} | {limit} |",
                chain.degree,
                chain.first,
                spec.data_bits(),
                spec.modulus_bits(),
            );
        }
    }
    println!("\n| special primes | data primes | digits | bits a prime | data bits | key limbs |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for special in [1, 2, 4, 8, 16] {
        let request =
            ChainRequest { special_primes: Some(special), ..ChainRequest::new(SchemeId::Bgv, 32768, 65537) };
        let spec = request.build()?;
        let digits = spec.data.len().div_ceil(spec.digit_primes);
        let limbs = 2 * digits * (spec.data.len() + spec.special.len());
        println!(
            "| {special} | {} | {digits} | {:.0} | {:.1} | {limbs} |",
            spec.data.len(),
            (spec.data[0] as f64).log2(),
            spec.data_bits(),
        );
    }
    Ok(())
}
