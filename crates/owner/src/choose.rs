//! Parameters for a stream: the scheme, n and the modulus with the fewest bytes a window on which everything that its questions need is
//! right by the noise bound.

use std::sync::Arc;

use sotto_pack::{Channel, Cut, Encoding, Layout, Span, WindowDescription};
use sotto_program::{KeysNeeded, LowerError};
use sotto_ring::primes;
use sotto_rlwe::{Bfv, Bgv, ChainRequest, Ckks, Digits, Origin, ParameterSpec, Params, SchemeId};
use sotto_runtime::{Encoding as Slots, Managed, Planned, RlweTarget};

use crate::compute::{Input, LARGEST_WEIGHT, Part, Quantity, TickWeights, frame, frames, program};
use crate::error::OwnerError;
use crate::needs::{Kind, Needs, StreamNeeds};

/// Windows that are summed into one result at most: more are summed in several results, which the owner adds.
pub(crate) const MOST_WINDOWS: usize = 64;
/// Degrees that are tried.
const DEGREES: [usize; 4] = [4096, 8192, 16384, 32768];
/// Bits that the data primes of a candidate may have.
const PRIME_BITS: [u32; 6] = [30, 34, 38, 42, 46, 50];
/// Data primes of a candidate.
const MOST_PRIMES: usize = 8;
/// Levels and scales of candidates in CKKS, and bits of the first prime beyond the scale: room for the whole part of a value.
const MOST_LEVELS: usize = 8;
const SCALE_BITS: [u32; 5] = [30, 34, 38, 42, 46];
const FIRST_BITS: u32 = 8;
/// A polynomial's or a model's error from noise is at most this part of the size of its coefficients.
pub const REAL_ERROR: f64 = 1e-4;

/// The choice for a stream, and the alternatives.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The stream's needs.
    pub stream: StreamNeeds,
    /// The parameters.
    pub spec: ParameterSpec,
    /// The layout of a window.
    pub layout: Layout,
    /// How readings are cut into windows.
    pub cut: Cut,
    /// Evaluation keys that the questions need.
    pub keys: KeysNeeded,
    /// Levels that the deepest computation uses.
    pub levels_used: u8,
    /// Bits between the noise bound and the limit, at the worst result.
    pub noise_bits_left: f64,
    /// Bytes of a window's ciphertext, going up.
    pub window_bytes: usize,
    /// Bytes of one answer's ciphertext, coming down.
    pub answer_bytes: u64,
    /// Results that one ciphertext holds.
    pub results_in_one: usize,
    /// Bytes of the evaluation keys.
    pub key_bytes: usize,
    /// Other schemes and degrees, and why each lost.
    pub alternatives: Vec<Alternative>,
}

/// A scheme and degree that was not chosen.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Alternative {
    /// The scheme.
    pub scheme: String,
    /// The ring's degree.
    pub n: usize,
    /// Bytes of a window, where it would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<usize>,
    /// Why it was not chosen.
    pub why: String,
}

/// Most ticks that a window of the span can have.
fn longest(span: Span, period: u32) -> u64 {
    let hours = match span {
        Span::Hour => 1,
        Span::Day => 25,
        Span::Week => 7 * 24 + 1,
        Span::Month => 31 * 24 + 1,
    };
    (hours * 3_600_000u64).div_ceil(u64::from(period))
}

/// The layout of a stream's windows on rows of so many columns. A channel's readings lie side by side, all channels in one row, and a
/// span that does not fit is cut into equal windows.
fn layout(
    stream: &StreamNeeds,
    channels: &[Channel],
    columns: u32,
    rows: u32,
) -> Result<(Layout, Cut), OwnerError> {
    let blocks = (channels.len() as u32).next_power_of_two();
    let most = u64::from(columns / blocks);
    if most == 0 {
        return Err(OwnerError::NoParameters(format!(
            "{} channels do not fit a window: declare them for several devices",
            channels.len()
        )));
    }
    let longest = longest(stream.span, stream.period);
    let windows = longest.div_ceil(most);
    let ticks = u32::try_from(longest.div_ceil(windows)).unwrap_or(u32::MAX).max(1);
    let encoding = match stream.kind {
        Kind::Exact => Encoding::Resolution,
        Kind::Real => Encoding::Real,
    };
    let layout = Layout::smallest(channels.to_vec(), ticks, columns, rows, encoding)
        .map_err(|error| OwnerError::NoParameters(error.to_string()))?;
    Ok((layout, Cut { span: stream.span, period: stream.period, ticks }))
}

/// A part of so many windows for a quantity.
pub(crate) fn typical(layout: &Layout, cut: &Cut, windows: usize, quantity: &Quantity) -> Part {
    typical_part(layout, cut, windows, matches!(quantity, Quantity::JointSquare(..)))
}

/// A part of windows that stands for any of its size: readings at every tick but, where products need masks, the last.
fn typical_part(layout: &Layout, cut: &Cut, windows: usize, with_gaps: bool) -> Part {
    let channels = layout.channels().len();
    let mut presence = vec![sotto_pack::Presence::first(cut.ticks); channels];
    let mut present = vec![cut.ticks; channels];
    if with_gaps && channels > 1 {
        presence[0] = sotto_pack::Presence::first(cut.ticks - 1);
        present[0] -= 1;
    }
    let window = WindowDescription {
        layout: layout.clone(),
        present,
        start: 0,
        period: cut.period,
        length: cut.ticks,
        presence,
        left_out: Vec::new(),
        generated: false,
    };
    let input = Input { id: String::new(), window: Arc::new(window), offset: 0 };
    Part { inputs: vec![input; windows] }
}

/// The quantities that a stream's questions take at most, each alone as a worst case.
pub(crate) fn worst(stream: &StreamNeeds, layout: &Layout, cut: &Cut) -> Vec<Quantity> {
    let Needs { squares, products, weights, degree, models, .. } = &stream.needs;
    let position = |name: &String| {
        layout
            .channels()
            .iter()
            .position(|channel| channel.name == *name)
            .and_then(|at| u16::try_from(at).ok())
    };
    let mut worst = Vec::new();
    match stream.kind {
        Kind::Exact => {
            worst.push(Quantity::Sum);
            if *squares {
                worst.push(Quantity::Square);
            }
            for (x, y) in products {
                if let (Some(x), Some(y)) = (position(x), position(y)) {
                    worst.push(Quantity::Product(x.min(y), x.max(y)));
                    worst.push(Quantity::JointSquare(x.min(y), x.max(y)));
                }
            }
            if *weights {
                let weights = (0..i64::from(cut.ticks)).map(|tick| LARGEST_WEIGHT - tick % 3).collect();
                worst.push(Quantity::Weighted(TickWeights { channel: 0, weights }));
            }
        }
        Kind::Real => {
            if *degree > 1 || !*models {
                let terms = f64::from((*degree).max(1));
                let coefficients = (0..=*degree).map(|k| if k == 0 { 0.0 } else { 1.0 / terms }).collect();
                worst.push(Quantity::Polynomial(0, coefficients));
            }
            if *models {
                let count = layout.channels().len() as f64;
                let terms = (0..layout.channels().len() as u16).map(|c| (c, 0.7 / count)).collect();
                worst.push(Quantity::Linear(terms));
            }
        }
    }
    worst
}

/// The largest |value| of a slot of a result. The plain modulus is larger than twice this.
pub(crate) fn largest_result(layout: &Layout, needs: &Needs) -> f64 {
    let top = layout.magnitude();
    let square = if needs.squares || !needs.products.is_empty() { top * top } else { top };
    let weighted = if needs.weights { top * LARGEST_WEIGHT as f64 } else { top };
    MOST_WINDOWS as f64 * square.max(weighted)
}

/// The best parameters for a stream.
///
/// # Errors
/// [`OwnerError::NoParameters`] with the reason and the way out.
pub fn choose(stream: &StreamNeeds, channels: &[Channel]) -> Result<Chosen, OwnerError> {
    match stream.kind {
        Kind::Real => choose_real(stream, channels),
        Kind::Exact => {
            let (bfv, bgv) = (best::<Bfv>(stream, channels), best::<Bgv>(stream, channels));
            let (mut winner, loser) = match (bfv.0, bgv.0) {
                (Some(bfv_best), Some(bgv_best)) if bgv_best.window_bytes < bfv_best.window_bytes => {
                    (bgv_best, Some(bfv_best))
                }
                (Some(bfv_best), other) => (bfv_best, other),
                (None, Some(bgv_best)) => (bgv_best, None),
                (None, None) => {
                    return Err(no_parameters(&bfv.1, "declare a coarser resolution or a narrower range"));
                }
            };
            winner.alternatives = bfv.1.into_iter().chain(bgv.1).collect();
            if let Some(loser) = loser {
                let bytes = loser.window_bytes;
                let why = if bytes == winner.window_bytes {
                    "as many bytes a window; the first of the two was taken".to_owned()
                } else {
                    format!("{bytes} bytes a window, {} where it was chosen", winner.window_bytes)
                };
                winner.alternatives.push(Alternative {
                    scheme: loser.spec.scheme.to_string(),
                    n: loser.spec.degree,
                    window_bytes: Some(bytes),
                    why,
                });
            }
            winner.alternatives.push(Alternative {
                scheme: SchemeId::Ckks.to_string(),
                n: winner.spec.degree,
                window_bytes: None,
                why: "rounds: the resolution would not be the only error".to_owned(),
            });
            Ok(winner)
        }
    }
}

fn no_parameters(tried: &[Alternative], way_out: &str) -> OwnerError {
    let last = tried.last().map_or_else(String::new, |last| format!(": at n = {}, {}", last.n, last.why));
    OwnerError::NoParameters(format!(
        "no parameters of 128-bit security do what the questions need{last}; {way_out}, or ask for less in one question"
    ))
}

/// Why parameters do not do, in the words of a table of alternatives.
fn lost(error: &LowerError) -> String {
    match error {
        LowerError::NoiseExceeded { bits_over, .. } => {
            format!("noise passes its limit by {:.0} bits", bits_over.ceil())
        }
        LowerError::TooLarge { bits_over, .. } => {
            format!("values with their precision take {bits_over:.0} bits more than there are")
        }
        LowerError::TooDeep { levels_needed, levels_available } => {
            format!("the questions need {levels_needed} levels, and {levels_available} fit")
        }
        LowerError::PlainModulusTooSmall { needed_bits, .. } => {
            format!("sums need a plain modulus of {needed_bits} bits")
        }
        other => other.to_string(),
    }
}

/// The smallest parameters of an exact scheme, and the degrees below that did not do.
fn best<S: Managed>(stream: &StreamNeeds, channels: &[Channel]) -> (Option<Chosen>, Vec<Alternative>) {
    let mut tried = Vec::new();
    for degree in DEGREES {
        match at_degree::<S>(stream, channels, degree) {
            Ok(chosen) => return (Some(chosen), tried),
            Err(why) => {
                tried.push(Alternative { scheme: S::ID.to_string(), n: degree, window_bytes: None, why });
            }
        }
    }
    (None, tried)
}

/// The smallest modulus at a degree that does.
fn at_degree<S: Managed>(
    stream: &StreamNeeds,
    channels: &[Channel],
    degree: usize,
) -> Result<Chosen, String> {
    let (layout, cut) = layout(stream, channels, degree as u32 / 2, 2).map_err(|error| error.to_string())?;
    let floor = 2.0 * largest_result(&layout, &stream.needs) + 1.0;
    if floor >= 2f64.powi(58) {
        return Err(format!("sums need a plain modulus of {:.0} bits", floor.log2().ceil()));
    }
    let t = primes::above((floor as u64).max(2 * degree as u64), degree).next().ok_or("no plain modulus")?;
    let mut candidates: Vec<(usize, u32)> =
        (1..=MOST_PRIMES).flat_map(|count| PRIME_BITS.map(|bits| (count, bits))).collect();
    // The fewest bits first; of equal ones the fewest primes.
    candidates.sort_by_key(|(count, bits)| (*count as u32 * bits, *count));
    let least = t.ilog2() + 12;
    let mut why = String::from("128-bit security leaves no room for the modulus that they need");
    for (count, bits) in candidates.into_iter().filter(|(count, bits)| *count as u32 * bits > least) {
        let request = ChainRequest {
            special_primes: Some(1),
            digits: Some(Digits::Primes(1)),
            levels: Some(count - 1),
            first_bits: Some(bits),
            other_bits: Some(bits),
            ..ChainRequest::new(S::ID, degree, t)
        };
        let Ok(spec) = request.build() else { continue };
        match attempt::<S>(stream, &layout, cut, spec) {
            Ok(chosen) => return Ok(chosen),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Judges a parameter set by the noise bound.
fn attempt<S: Managed>(
    stream: &StreamNeeds,
    layout: &Layout,
    cut: Cut,
    spec: ParameterSpec,
) -> Result<Chosen, String> {
    let params = Params::<S>::new(spec.clone()).map_err(|error| error.to_string())?;
    let target = RlweTarget { params, encoding: Slots::Slots, origin: Origin::SecretKey, may_wrap: true };
    // One window alone has less noise than all of them: most candidates end here, in a hundredth of the time.
    judge(stream, layout, cut, &target, spec.clone(), true)?;
    judge(stream, layout, cut, &target, spec, false)
}

/// Lowers every quantity at its largest, or for one window `alone`, and collects keys, levels, noise and bytes.
fn judge<S: Managed>(
    stream: &StreamNeeds,
    layout: &Layout,
    cut: Cut,
    target: &RlweTarget<S>,
    spec: ParameterSpec,
    alone: bool,
) -> Result<Chosen, String> {
    let params = &target.params;
    let mut chosen = Chosen {
        stream: stream.clone(),
        spec,
        layout: layout.clone(),
        cut,
        keys: KeysNeeded::default(),
        levels_used: 0,
        noise_bits_left: f64::INFINITY,
        window_bytes: sotto_wire::seeded_bytes(params),
        answer_bytes: 0,
        results_in_one: frames(layout, true),
        key_bytes: 0,
        alternatives: Vec::new(),
    };
    for quantity in worst(stream, layout, &cut) {
        // As many parts as fit one ciphertext, few windows in all but one: the noise of the packed result is that of the largest, many
        // times over, so every part is the largest.
        let (windows, parts) = if alone {
            (1, 1)
        } else {
            (windows_of(&quantity), frames(layout, true).min(most_parts(&quantity)))
        };
        let parts = vec![typical(layout, &cut, windows, &quantity); parts];
        let asked = program(layout, &parts, &[quantity], true).map_err(|error| error.to_string())?;
        let Some(program) = &asked.program else { continue };
        let lowered = target.lower_with_shapes(program).map_err(|error| lost(&error))?;
        chosen.keys = chosen.keys.and(&lowered.plan.keys);
        chosen.levels_used = chosen.levels_used.max(lowered.plan.predicted.levels_used);
        for Planned { shape, slot_error, .. } in &lowered.outputs {
            chosen.noise_bits_left = chosen.noise_bits_left.min(shape.room(params));
            let most = stream.needs.precision.unwrap_or(REAL_ERROR);
            // Publishing rounds to the noise bound, which at most doubles the error.
            let error = 2.0 * slot_error;
            if error > most {
                return Err(format!(
                    "noise may change a value by {error:.1e} of its coefficients' size; {most:.1e} is asked"
                ));
            }
            let bytes = sotto_wire::expanded_bytes(params, shape.level, shape.components) as u64;
            chosen.answer_bytes = chosen.answer_bytes.max(bytes);
        }
    }
    let keys = &chosen.keys;
    if !keys.is_empty() {
        chosen.key_bytes = sotto_wire::evaluation_keys_bytes(
            params,
            sotto_wire::EvaluationKeyCounts {
                relinearisation: keys.relinearisation,
                galois: keys.rotations.len() + usize::from(keys.swap_rows),
                transfers: keys.transfers.len(),
            },
        );
    }
    Ok(chosen)
}

/// Windows of a result. Values at single readings are not summed over windows.
fn windows_of(quantity: &Quantity) -> usize {
    match quantity {
        Quantity::Polynomial(..) | Quantity::Linear(_) => 1,
        _ => MOST_WINDOWS,
    }
}

/// Parts in the program that stands for the worst: a plan takes 1,024 inputs.
fn most_parts(quantity: &Quantity) -> usize {
    (sotto_program::limits::INPUTS / windows_of(quantity)).min(crate::compute::MOST_FRAMES)
}

/// The smallest chain at a degree on which the values are precise enough.
fn real_at_degree(stream: &StreamNeeds, channels: &[Channel], degree: usize) -> Result<Chosen, String> {
    let (layout, cut) = layout(stream, channels, degree as u32 / 2, 1).map_err(|error| error.to_string())?;
    let mut candidates: Vec<(usize, u32)> =
        (1..=MOST_LEVELS).flat_map(|levels| SCALE_BITS.map(|bits| (levels, bits))).collect();
    candidates.sort_by_key(|(levels, bits)| (*levels as u32 + 1) * bits);
    let mut why = String::from("128-bit security leaves no room for the modulus that they need");
    for (levels, bits) in candidates {
        let request = ChainRequest {
            special_primes: Some(1),
            digits: Some(Digits::Primes(1)),
            levels: Some(levels),
            first_bits: Some(bits + FIRST_BITS),
            other_bits: Some(bits),
            ..ChainRequest::new(SchemeId::Ckks, degree, 0)
        };
        let Ok(spec) = request.build() else { continue };
        match attempt::<Ckks>(stream, &layout, cut, spec) {
            Ok(chosen) => return Ok(chosen),
            Err(error) => why = error,
        }
    }
    Err(why)
}

fn choose_real(stream: &StreamNeeds, channels: &[Channel]) -> Result<Chosen, OwnerError> {
    let mut tried = Vec::new();
    for degree in DEGREES {
        match real_at_degree(stream, channels, degree) {
            Ok(mut chosen) => {
                chosen.alternatives = tried;
                for scheme in [SchemeId::Bfv, SchemeId::Bgv] {
                    let why = "has whole numbers only: coefficients and models are reals".to_owned();
                    let (scheme, n) = (scheme.to_string(), degree);
                    chosen.alternatives.push(Alternative { scheme, n, window_bytes: None, why });
                }
                return Ok(chosen);
            }
            Err(why) => {
                tried.push(Alternative {
                    scheme: SchemeId::Ckks.to_string(),
                    n: degree,
                    window_bytes: None,
                    why,
                });
            }
        }
    }
    Err(no_parameters(&tried, "accept a larger error with --precision, take polynomials of a lower degree"))
}

impl Chosen {
    /// Readings of a full window.
    #[must_use]
    pub fn readings(&self) -> u64 {
        u64::from(self.cut.ticks) * self.layout.channels().len() as u64
    }

    /// Slots of a result.
    #[must_use]
    pub fn frame(&self) -> u32 {
        frame(&self.layout)
    }

    /// The stream as the device's profile states it, in the bundle of this number, from 0. Each bundle's streams have names of their own:
    /// their windows are counted anew, and a file is sent again for them.
    #[must_use]
    pub fn profile(&self, bundle: usize) -> sotto_pack::StreamProfile {
        let name = self.stream.name();
        sotto_pack::StreamProfile {
            stream: if bundle == 0 { name } else { format!("{name}.{}", bundle + 1) },
            parameters: hex::encode(sotto_wire::write_parameters(&self.spec)),
            encoding: self.layout.encoding(),
            ticks: self.cut.ticks,
            period_ms: Some(self.cut.period),
            span: Some(self.cut.span),
            channels: self.layout.channels().to_vec(),
        }
    }
}

/// Checks that a parameter set carries everything that a stream needs.
///
/// # Errors
/// The reason why not.
pub(crate) fn fits(stream: &StreamNeeds, channels: &[Channel], spec: &ParameterSpec) -> Result<(), String> {
    fn typed<S: Managed>(
        stream: &StreamNeeds,
        channels: &[Channel],
        spec: &ParameterSpec,
    ) -> Result<(), String> {
        let rows = if stream.kind == Kind::Exact { 2 } else { 1 };
        let (layout, cut) =
            layout(stream, channels, spec.degree as u32 / 2, rows).map_err(|error| error.to_string())?;
        attempt::<S>(stream, &layout, cut, spec.clone()).map(drop)
    }
    match spec.scheme {
        SchemeId::Bfv => typed::<Bfv>(stream, channels, spec),
        SchemeId::Bgv => typed::<Bgv>(stream, channels, spec),
        SchemeId::Ckks => typed::<Ckks>(stream, channels, spec),
    }
}

/// A stream as programs read it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StreamReport {
    /// The stream's name.
    pub stream: String,
    /// The questions that it serves; none where the default does.
    pub questions: Vec<String>,
    /// The channels.
    pub channels: Vec<String>,
    /// The scheme.
    pub scheme: String,
    /// The ring's degree.
    pub n: usize,
    /// Bits of the whole modulus.
    pub modulus_bits: f64,
    /// Bits of security by the 2024 guidelines.
    pub security_bits: u32,
    /// The plain modulus of the exact schemes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain_modulus: Option<u64>,
    /// Levels below the top one, and how many of them the deepest computation uses.
    pub levels: usize,
    /// See `levels`.
    pub levels_used: u8,
    /// No window crosses the end of such a span.
    pub span: Span,
    /// Readings of a full window.
    pub readings_a_window: u64,
    /// Bytes of a window's ciphertext.
    pub bytes_a_window: usize,
    /// The same for each reading of a full window.
    pub bytes_a_reading: f64,
    /// Bytes of an answer's ciphertext.
    pub bytes_an_answer: u64,
    /// Results that one answer's ciphertext holds.
    pub results_an_answer: usize,
    /// Rotations whose Galois keys the cloud gets.
    pub rotations: Vec<i32>,
    /// True if the cloud gets a relinearisation key.
    pub relinearisation: bool,
    /// Bytes of the evaluation keys.
    pub bytes_of_keys: usize,
    /// Bits between the noise bound and the limit.
    pub noise_bits_left: f64,
    /// Seconds of computing on one window, where they were measured: see [`crate::seconds_a_window`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_a_window: Option<f64>,
    /// Other choices, and why each lost.
    pub alternatives: Vec<Alternative>,
}

/// A stream as programs read it.
#[must_use]
pub fn stream_report(chosen: &Chosen) -> StreamReport {
    let exact = chosen.spec.scheme != SchemeId::Ckks;
    StreamReport {
        stream: chosen.stream.name(),
        questions: chosen.stream.questions.clone(),
        channels: chosen.stream.channels.clone(),
        scheme: chosen.spec.scheme.to_string(),
        n: chosen.spec.degree,
        modulus_bits: chosen.spec.modulus_bits(),
        security_bits: 128,
        plain_modulus: exact.then_some(chosen.spec.plain),
        levels: chosen.spec.data.len() - 1,
        levels_used: chosen.levels_used,
        span: chosen.cut.span,
        readings_a_window: chosen.readings(),
        bytes_a_window: chosen.window_bytes,
        bytes_a_reading: chosen.window_bytes as f64 / chosen.readings().max(1) as f64,
        bytes_an_answer: chosen.answer_bytes,
        results_an_answer: chosen.results_in_one,
        rotations: chosen.keys.rotations.clone(),
        relinearisation: chosen.keys.relinearisation,
        bytes_of_keys: chosen.key_bytes,
        noise_bits_left: chosen.noise_bits_left,
        seconds_a_window: None,
        alternatives: chosen.alternatives.clone(),
    }
}
