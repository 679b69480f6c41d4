//! Readings of two devices at common times.

use super::moments::{Moments, Off, Pair};
use super::{Reading, Readings};

/// Returns the moments of two channels, each of one device. Where their periods differ, the mean of the readings in a period of the
/// longer one stands beside its reading.
pub(crate) fn joined(x: &Readings, y: &Readings) -> Pair {
    let period = |of: &Readings| of.all().map(|reading| reading.period()).max();
    if period(x) < period(y) {
        return joined(y, x).swapped();
    }
    let pairs = pairs(x, y);
    let count = pairs.len() as u64;
    let n = count.max(1) as f64;
    let mean = |of: fn(&Joint) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|joint| joint.x), mean(|joint| joint.y));
    let moments = |mean: f64, of: fn(&Joint) -> f64, error: fn(&Joint) -> f64| Moments {
        count,
        mean,
        total: pairs.iter().map(of).sum(),
        squared: Some(pairs.iter().map(|joint| (of(joint) - mean).powi(2)).sum()),
        off: pairs.iter().fold(Off::default(), |off, joint| match error(joint) {
            0.0 => off,
            error => off.merge(Off::of(1, error)),
        }),
        largest: pairs.iter().map(|joint| of(joint).abs()).fold(0.0, f64::max),
    };
    Pair {
        x: moments(mean_x, |joint| joint.x, |joint| joint.errors[0]),
        y: moments(mean_y, |joint| joint.y, |joint| joint.errors[1]),
        product: pairs.iter().map(|joint| (joint.x - mean_x) * (joint.y - mean_y)).sum(),
    }
}

/// Two values of one time.
struct Joint {
    x: f64,
    y: f64,
    errors: [f64; 2],
}

/// Returns each reading of `x` with the mean of those of `y` in its period, if there is one.
fn pairs(x: &Readings, y: &Readings) -> Vec<Joint> {
    let in_order = |of: &'_ Readings| -> Vec<(i64, i64, f64, f64)> {
        let each =
            |reading: &Reading<'_>| (reading.at, reading.time_after(1), reading.value(), reading.error());
        of.by_device().flat_map(|device| device.readings.iter().map(each).collect::<Vec<_>>()).collect()
    };
    let of_y = in_order(y);
    let mut later = of_y.iter().peekable();
    let mut all = Vec::new();
    for (at, until, value, error) in in_order(x) {
        while later.next_if(|y| y.0 < at).is_some() {}
        let (mut count, mut sum, mut errors) = (0u64, 0.0, 0.0);
        while let Some((_, _, value, error)) = later.next_if(|y| y.0 < until) {
            (count, sum, errors) = (count + 1, sum + value, errors + error);
        }
        if count > 0 {
            all.push(Joint { x: value, y: sum / count as f64, errors: [error, errors / count as f64] });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::{Run, minutes};
    use super::*;

    fn readings(device: &str, run: Run) -> Readings {
        let mut all = Readings::default();
        all.add(device, run);
        all
    }

    #[test]
    fn common_ticks_have_the_moments_of_their_definition() {
        let x = readings("a", minutes(0, &[Some(1.0), Some(2.0), None, Some(4.0), Some(90.0)]));
        let y = readings("b", minutes(0, &[Some(10.0), Some(8.0), Some(70.0), Some(3.0)]));
        let pair = joined(&x, &y);
        // Pairs (1, 10), (2, 8), (4, 3): means 7/3 and 7.
        assert_eq!((pair.x.count, pair.y.mean), (3, 7.0));
        assert!((pair.x.mean - 7.0 / 3.0).abs() < 1e-12);
        assert!((pair.product - (-4.0 - 1.0 / 3.0 - 20.0 / 3.0)).abs() < 1e-12, "{}", pair.product);
        assert!((pair.y.squared.expect("squares") - 26.0).abs() < 1e-12);
        assert!((pair.x.off.of_sum() - 0.75).abs() < 1e-12, "a quarter each");
        assert_eq!(joined(&y, &x).swapped(), pair);
    }

    #[test]
    fn a_finer_channel_is_averaged_in_the_periods_of_the_coarser() {
        let coarse = Run {
            period: sotto_pack::Period::from_milliseconds(180_000),
            ..minutes(0, &[Some(5.0), None, Some(7.0)])
        };
        let coarse = readings("a", coarse);
        let fine = minutes(
            0,
            &[Some(1.0), Some(3.0), None, Some(50.0), Some(50.0), None, Some(9.0), None, None, Some(4.0)],
        );
        let pair = joined(&readings("b", fine), &coarse);
        // (mean of 1 and 3, 5) and (9, 7); nothing stands beside the fourth to the sixth minute.
        assert_eq!((pair.x.count, pair.x.mean, pair.y.mean), (2, 5.5, 6.0));
        assert_eq!(pair.product, 7.0);
        assert_eq!(joined(&Readings::default(), &coarse).x.count, 0);
    }
}
