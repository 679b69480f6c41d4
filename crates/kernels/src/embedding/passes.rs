//! The scalar transform, and the passes before and after any transform.

use super::Complex;
use super::Width;

/// Compiles a body for each vector width and runs the version of a width; every version computes the same
/// numbers. On 64-bit ARM the baseline has vectors.
macro_rules! vectorised {
    ($(#[$doc:meta])* $name:ident($($argument:ident: $kind:ty),*) $body:block) => {
        $(#[$doc])*
        pub(super) fn $name(width: Width, $($argument: $kind),*) {
            #[inline(always)]
            fn body($($argument: $kind),*) $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
            fn wide($($argument: $kind),*) {
                body($($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn four($($argument: $kind),*) {
                body($($argument),*);
            }
            match width {
                // SAFETY: the value proves that the processor has the instructions.
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                Width::Eight(_) => unsafe { wide($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                Width::Four(_) => unsafe { four($($argument),*) },
                Width::Baseline => body($($argument),*),
            }
        }
    };
}

vectorised! {
    /// Transforms coefficients to values, in place.
    forward(re: &mut [f64], im: &mut [f64], twiddles: &[Complex]) {
        let (mut half, mut nodes) = (re.len(), 1);
        while nodes < re.len() {
            half /= 2;
            let blocks = re.chunks_exact_mut(2 * half).zip(im.chunks_exact_mut(2 * half));
            for ((re, im), w) in blocks.zip(&twiddles[nodes..2 * nodes]) {
                let ((low_re, high_re), (low_im, high_im)) = (re.split_at_mut(half), im.split_at_mut(half));
                for (((a, b), c), d) in low_re.iter_mut().zip(low_im).zip(high_re).zip(high_im) {
                    let (re, im) = (*c * w.re - *d * w.im, *c * w.im + *d * w.re);
                    (*a, *b, *c, *d) = (*a + re, *b + im, *a - re, *b - im);
                }
            }
            nodes *= 2;
        }
    }
}

vectorised! {
    /// Transforms values to coefficients times n/2, in place.
    inverse(re: &mut [f64], im: &mut [f64], twiddles: &[Complex]) {
        let (mut half, mut nodes) = (1, re.len() / 2);
        while nodes > 0 {
            let blocks = re.chunks_exact_mut(2 * half).zip(im.chunks_exact_mut(2 * half));
            for ((re, im), w) in blocks.zip(&twiddles[nodes..2 * nodes]) {
                let ((low_re, high_re), (low_im, high_im)) = (re.split_at_mut(half), im.split_at_mut(half));
                for (((a, b), c), d) in low_re.iter_mut().zip(low_im).zip(high_re).zip(high_im) {
                    let (re, im) = (*a - *c, *b - *d);
                    (*a, *b) = (*a + *c, *b + *d);
                    // Multiply by the conjugate of w.
                    (*c, *d) = (re * w.re + im * w.im, im * w.re - re * w.im);
                }
            }
            half *= 2;
            nodes /= 2;
        }
    }
}

vectorised! {
    to_reals(integers: &[i64], reals: &mut [f64]) {
        for (x, c) in reals.iter_mut().zip(integers) {
            *x = *c as f64;
        }
    }
}

vectorised! {
    /// `out[i] = values[places[i]]`.
    gather(out: &mut [f64], values: &[f64], places: &[u32]) {
        for (x, place) in out.iter_mut().zip(places) {
            *x = values[*place as usize];
        }
    }
}

vectorised! {
    multiply(numbers: &mut [f64], factor: f64) {
        numbers.iter_mut().for_each(|x| *x *= factor);
    }
}

vectorised! {
    divide(numbers: &mut [f64], divisor: f64) {
        numbers.iter_mut().for_each(|x| *x /= divisor);
    }
}

vectorised! {
    largest(numbers: &[f64], largest: &mut f64) {
        let mut lanes = [0.0f64; 8];
        let (lines, rest) = numbers.as_chunks::<8>();
        for line in lines {
            for (lane, x) in lanes.iter_mut().zip(line) {
                *lane = if x.abs() > *lane { x.abs() } else { *lane };
            }
        }
        *largest = lanes.into_iter().chain(rest.iter().map(|x| x.abs())).fold(0.0, f64::max);
    }
}

vectorised! {
    largest_square(re: &[f64], im: &[f64], largest: &mut f64) {
        let mut lanes = [0.0f64; 8];
        let ((re_lines, re), (im_lines, im)) = (re.as_chunks::<8>(), im.as_chunks::<8>());
        for (re, im) in re_lines.iter().zip(im_lines) {
            for ((lane, re), im) in lanes.iter_mut().zip(re).zip(im) {
                let square = re * re + im * im;
                *lane = if square > *lane { square } else { *lane };
            }
        }
        let rest = re.iter().zip(im).map(|(re, im)| re * re + im * im);
        *largest = lanes.into_iter().chain(rest).fold(0.0, f64::max);
    }
}

vectorised! {
    any_outside(numbers: &[f64], limit: f64, outside: &mut bool) {
        let mut any = 0u64;
        for x in numbers {
            any |= u64::from(x.abs() > limit) | u64::from(x.is_nan());
        }
        *outside = any != 0;
    }
}

vectorised! {
    /// Rounds without `f64::round`, which is a function call with branches where the processor has no instruction for
    /// it. The number added is the largest below a half, so that nothing below a half reaches the next integer; from
    /// 2^52 on the sum absorbs it.
    round_off(numbers: &mut [f64], integers: &mut [i64]) {
        for (x, integer) in numbers.iter_mut().zip(integers) {
            *integer = (*x + 0.499_999_999_999_999_94_f64.copysign(*x)) as i64;
            *x -= *integer as f64;
        }
    }
}
