//! The parameters of approximate comparisons, by gap: `cargo run --release -p sotto-he --example comparisons`. Dry runs alone.

use sotto::{Ckks, Context, Encrypted, Result, Sign};

fn main() -> Result<()> {
    println!(
        "| gap | function | n | levels | bits of the scale | products | key, MB | error, of the range |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for bits in [4, 6, 8, 12] {
        let gap = f64::from(-bits).exp2();
        let flags = |x: &[Encrypted<Ckks>]| Ok(x[0].greater_than(0.25, gap)?.into_vector());
        let found = row(gap, "x > c", flags)?;
        let plan = found.plan_flags(&[1], |x| x[0].greater_than(0.25, gap))?;
        println!("{:.1e} outside the gap |", plan.error());
        let found = row(gap, "abs", |x| x[0].abs(gap))?;
        println!("{:.1e} |", found.plan(&[1], |x| x[0].abs(gap))?.error_bound());
    }
    println!("\n| gap | degrees | levels | products | error of the sign | error of abs inside the gap |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for sign in Sign::all() {
        let degrees: Vec<String> = sign.degrees().iter().map(usize::to_string).collect();
        println!(
            "| 2^{} | {} | {} | {} | {:.1e} | {:.1e} |",
            sign.gap().log2(),
            degrees.join(", "),
            sign.depth(),
            sign.products(),
            sign.error(),
            sign.inside(),
        );
    }
    Ok(())
}

/// Chooses the parameters and prints the first columns.
fn row(
    gap: f64,
    name: &str,
    work: impl Fn(&[Encrypted<Ckks>]) -> Result<Encrypted<Ckks>>,
) -> Result<Context<Ckks>> {
    let context = Context::<Ckks>::builder().values_within(1.0).build_for(&[1], &work)?;
    let plan = context.plan(&[1], &work)?;
    let params = context.params();
    print!(
        "| 2^{} | {name} | {} | {} | {} | {} | {:.0} | ",
        gap.log2(),
        params.degree(),
        params.top_level(),
        params.spec().plain,
        plan.counts().0,
        plan.key_bytes() as f64 / 1e6
    );
    Ok(context)
}
