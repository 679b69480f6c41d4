//! Proves the numbers of the table: on every cell of a cover a polynomial's values and slopes are bounded by its Taylor
//! expansion about the middle, which is exact for polynomials. A disc of radius r about a real number covers a real interval
//! and its neighbourhood in the complex plane.

use super::{COMPOSITES, Composite, Stage};

/// Covers the rounding of f64 in these tests.
const ROUNDING: f64 = 1e-12;

/// A disc with a real middle.
#[derive(Clone, Copy)]
struct Disc {
    middle: f64,
    radius: f64,
}

impl Stage {
    /// The coefficients in the monomial basis, that of y^0 first.
    fn coefficients(&self) -> Vec<f64> {
        let mut even = vec![1.0];
        let mut times = |factor: &[f64]| {
            let mut product = vec![0.0; even.len() + factor.len() - 1];
            for (i, a) in even.iter().enumerate() {
                factor.iter().enumerate().for_each(|(j, b)| product[i + j] += a * b);
            }
            even = product;
        };
        if let Some(linear) = self.linear {
            times(&[linear, 1.0]);
        }
        if let Some((shift, rest)) = self.square {
            times(&[shift * shift + rest, 2.0 * shift, 1.0]);
        }
        even.iter().flat_map(|c| [0.0, *c]).collect()
    }

    /// The disc of the values on a disc, and a bound on the slopes there.
    fn image(&self, at: Disc) -> (Disc, f64) {
        // Taylor's coefficients about the middle, by repeated division.
        let mut taylor = self.coefficients();
        for start in 0..taylor.len() {
            for i in (start..taylor.len() - 1).rev() {
                taylor[i] += at.middle * taylor[i + 1];
            }
        }
        let higher = taylor.iter().enumerate().skip(1).rev();
        let radius = higher.clone().fold(0.0, |sum, (_, c)| (sum + c.abs()) * at.radius);
        let slope = higher.fold(0.0, |sum, (k, c)| sum * at.radius + k as f64 * c.abs());
        (Disc { middle: taylor[0], radius: radius + ROUNDING }, slope)
    }
}

/// Halves the interval until the statement holds on every part of it.
fn cover(low: f64, high: f64, holds: &impl Fn(f64, f64) -> bool) {
    let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
    if holds(middle, half) {
        return;
    }
    assert!(half > 1e-9, "not proved near {middle}");
    cover(low, middle, holds);
    cover(middle, high, holds);
}

/// Asserts a bound on the slope from every stage to each later one, on an interval and its neighbourhood.
fn slopes_within(stages: &[Stage], low: f64, high: f64, radius: f64, bounds: &[f64]) {
    cover(low, high, &|middle, half| {
        let mut disc = Disc { middle, radius: half + radius };
        let mut product = 1.0;
        stages.iter().zip(bounds).all(|(stage, bound)| {
            let (image, slope) = stage.image(disc);
            disc = image;
            product *= slope;
            product <= *bound
        })
    });
}

fn composites() -> impl Iterator<Item = (&'static Composite, String)> {
    COMPOSITES.iter().map(|composite| {
        let degrees: Vec<i32> = composite.stages.iter().map(Stage::degree).collect();
        (composite, format!("gap 2^-{}, degrees {degrees:?}", composite.gap_bits))
    })
}

#[test]
fn every_stage_keeps_the_sign_of_its_operand_or_turns_it() {
    for (composite, name) in composites() {
        let mut turns = false;
        for stage in composite.stages {
            // u + linear < 0 and (u + shift)² + rest > 0 on all of the domain, so only y = 0 is a zero.
            let end = stage.scale * stage.scale;
            assert!(stage.linear.is_none_or(|linear| end + linear < -1e-6), "{name}");
            assert!(stage.square.is_none_or(|(_, rest)| rest > 0.0), "{name}");
            turns ^= stage.linear.is_some();
        }
        // The sign of the scale of the first operand undoes the turns.
        assert_eq!(turns, composite.stages[0].scale < 0.0, "{name}");
    }
}

#[test]
fn every_stage_stays_in_the_domain_of_the_next() {
    for (composite, name) in composites() {
        let gap = f64::from(-composite.gap_bits).exp2();
        let first = &composite.stages[0];
        assert!(first.least <= gap * first.scale.abs(), "{name}");
        for pair in composite.stages.windows(2) {
            let [stage, next] = pair else { unreachable!() };
            let end = stage.scale.abs();
            let bound = next.scale.abs();
            let value = |middle, half| {
                let (image, _) = stage.image(Disc { middle, radius: half });
                (image.middle.abs() - image.radius, image.middle.abs() + image.radius)
            };
            cover(0.0, end, &|middle, half| value(middle, half).1 <= bound);
            cover(stage.least, end, &|middle, half| value(middle, half).0 >= next.least);
        }
        let last = &composite.stages[composite.stages.len() - 1];
        let off = |middle, half| {
            let (image, _) = last.image(Disc { middle, radius: half });
            ((image.middle.abs() - 1.0).abs() + image.radius, image.middle.abs() + image.radius)
        };
        cover(last.least, last.scale.abs(), &|middle, half| off(middle, half).0 <= composite.error);
        cover(0.0, last.scale.abs(), &|middle, half| off(middle, half).1 <= 1.0 + composite.error);
    }
}

#[test]
fn inside_the_gap_an_absolute_value_is_off_by_less_than_a_part_of_the_gap() {
    for (composite, name) in composites() {
        let gap = f64::from(-composite.gap_bits).exp2();
        assert!(composite.inside < gap / 4.0, "{name}");
        cover(0.0, gap, &|middle, half| {
            let scale = composite.stages[0].scale;
            let start = Disc { middle: middle * scale, radius: half * scale.abs() };
            let end = composite.stages.iter().fold(start, |disc, stage| stage.image(disc).0);
            (middle + half) * ((1.0 - end.middle).abs() + end.radius) <= composite.inside
        });
    }
}

#[test]
fn errors_grow_no_more_than_the_table_says() {
    for (composite, _) in composites() {
        for (i, stage) in composite.stages.iter().enumerate() {
            let rest = &composite.stages[i..];
            let end = stage.scale.abs();
            assert_eq!(stage.growth.len(), rest.len());
            slopes_within(rest, 0.0, end, stage.radius, stage.growth);
            let mut bounds = vec![f64::INFINITY; rest.len()];
            bounds[rest.len() - 1] = stage.beyond;
            slopes_within(rest, stage.least, end, stage.radius, &bounds);
        }
    }
}

#[test]
fn values_on_a_dense_grid_and_at_the_ends() {
    for sign in super::Sign::all() {
        let (gap, error) = (sign.gap(), sign.error());
        for i in 0..=1_000_000 {
            let x = gap + (1.0 - gap) * f64::from(i) / 1e6;
            assert!((sign.at(x) - 1.0).abs() <= error && (sign.at(-x) + 1.0).abs() <= error, "{gap} {x}");
            let inside = gap * f64::from(i) / 1e6;
            let value = sign.at(inside);
            assert!(value <= 1.0 + error && (value > 0.0 || i == 0), "{gap} {inside}");
            assert_eq!(sign.at(-inside), -value);
        }
        assert_eq!(sign.at(0.0), 0.0);
    }
}

/// Plans name a composition by its gap alone: the one of least depth. Other coefficients would give other answers, so they
/// get another step.
#[test]
fn the_compositions_that_plans_name_are_frozen() {
    for (gap_bits, degrees, frozen) in [
        (4, vec![3, 3, 7], 0xf6ec_2123_48c1_3e83_u64),
        (6, vec![7, 7, 7], 0x017a_fc88_23c5_00c2),
        (8, vec![7, 7, 7, 7], 0xf1d9_c666_a6ab_1649),
        (12, vec![7, 7, 7, 7, 7], 0x5f10_ff8f_4f17_bed9),
    ] {
        let gap = f64::from(-gap_bits).exp2();
        let sign = super::Sign::with_gap(gap).unwrap();
        assert_eq!((sign.gap(), sign.degrees()), (gap, degrees));
        let numbers = sign.composite.stages.iter().flat_map(|stage| {
            let (shift, rest) = stage.square.unwrap_or_default();
            [stage.scale, stage.linear.unwrap_or_default(), shift, rest]
        });
        let mixed = |hash: u64, number: f64| {
            (hash.rotate_left(5) ^ number.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        assert_eq!(numbers.fold(0, mixed), frozen, "the coefficients of gap 2^-{gap_bits} changed");
    }
}
