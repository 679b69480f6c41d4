//! The choice of compact forms, for streams whose questions need sums of readings, squares and products.

use sotto_compact::{Profile, Weights};
use sotto_pack::{Channel, ChannelBins, Cut, MOST_BINS, Places, Quantiser};
use sotto_program::KeysNeeded;
use sotto_rlwe::{Bfv, ChainRequest, ParameterSpec, Params, SchemeId};
use sotto_wire::{CompactSums, MOST_PLACES, WINDOW_OVERHEAD};

use super::chosen::{Alternative, Chosen, MOST_WINDOWS, under_public_key};
use super::worst::longest;
use crate::streams::StreamNeeds;

/// Degrees to try. Smaller ones are insecure with a prime large enough for sums; larger ones are not needed.
const DEGREES: [usize; 2] = [2048, 4096];

/// Sizes of the prime to try, in bits.
const PRIME_BITS: [u32; 4] = [40, 44, 48, 50];

/// Numbers of windows that a sum must support, the largest first.
const WINDOWS: [u64; 4] = [MOST_WINDOWS as u64, 16, 4, 1];

// Smallest degree of whole ciphertexts with slots, and smallest number of bits that their noise takes.
const WHOLE_DEGREE: usize = 4096;

const LEAST_NOISE_BITS: usize = 12;

/// Largest plain modulus, in bits.
const PLAIN_BITS: i32 = 32;

/// Returns the form with the most ticks per window, and of these with the fewest bytes.
pub(super) fn best(stream: &StreamNeeds, channels: &[Channel]) -> Result<Chosen, String> {
    let position = |name: &String| channels.iter().position(|channel| channel.name == *name);
    let mut products = Vec::with_capacity(stream.needs.products.len());
    for (x, y) in &stream.needs.products {
        let (Some(x), Some(y)) = (position(x), position(y)) else { continue };
        products.push((x.min(y) as u16, x.max(y) as u16));
    }
    products.sort_unstable();
    products.dedup();
    let bins = bins(stream, channels)?;
    let places = Places { width: 0, squares: stream.needs.squares, products, bins };
    let mut why = "no form was tried".to_owned();
    for windows in WINDOWS {
        let (mut found, mut alternatives) = (Vec::new(), Vec::new());
        for degree in DEGREES {
            match at_degree(stream, channels, &places, degree, windows) {
                Ok(chosen) => found.push(chosen),
                Err(error) => {
                    alternatives.push(alternative(degree, None, error.clone()));
                    why = error;
                }
            }
        }
        found.sort_by_key(|chosen| (u32::MAX - chosen.cut.ticks, chosen.window_bytes, chosen.spec.degree));
        let mut found = found.into_iter();
        let Some(mut chosen) = found.next() else { continue };
        alternatives.extend(found.map(|other| {
            let why = if other.cut.ticks < chosen.cut.ticks {
                format!("windows of at most {} ticks", other.cut.ticks)
            } else {
                "not fewer bytes, and more to compute".to_owned()
            };
            alternative(other.spec.degree, Some(other.window_bytes), why)
        }));
        alternatives.extend(whole(chosen.spec.plain));
        chosen.alternatives = alternatives;
        return Ok(chosen);
    }
    Err(why)
}

fn alternative(n: usize, window_bytes: Option<usize>, why: String) -> Alternative {
    Alternative { scheme: "compact BFV".to_owned(), n, window_bytes, why }
}

/// Returns whole ciphertexts as alternatives. A lower bound on their bytes: n coefficients, each with the bits of the
/// plain modulus and of the least noise.
fn whole(plain: u64) -> impl Iterator<Item = Alternative> {
    let bytes = WHOLE_DEGREE * (plain.ilog2() as usize + LEAST_NOISE_BITS) / 8;
    let exact = [SchemeId::Bfv, SchemeId::Bgv].map(|scheme| Alternative {
        scheme: scheme.to_string(),
        n: WHOLE_DEGREE,
        window_bytes: Some(bytes),
        why: format!("a whole ciphertext takes at least {bytes} bytes a window"),
    });
    let rounds = Alternative {
        scheme: SchemeId::Ckks.to_string(),
        n: WHOLE_DEGREE,
        window_bytes: None,
        why: "rounds: the resolution would not be the only error".to_owned(),
    };
    exact.into_iter().chain([under_public_key(SchemeId::Bfv, WHOLE_DEGREE), rounds])
}

fn at_degree(
    stream: &StreamNeeds,
    channels: &[Channel],
    places: &Places,
    degree: usize,
    windows: u64,
) -> Result<Chosen, String> {
    let left = degree.min(MOST_PLACES).saturating_sub(places.bin_count());
    let most = left / places.columns(channels.len()).max(1);
    if most == 0 {
        return Err(match places.bin_count() {
            0 => format!("{} channels with their products do not fit a window", channels.len()),
            bins => {
                format!("{} channels with their products and {bins} bins do not fit a window", channels.len())
            }
        });
    }
    let longest = longest(stream.span, stream.period);
    let ticks = longest.div_ceil(longest.div_ceil(most as u64)).max(1) as u32;
    let layout = Places::layout(channels.to_vec(), ticks).map_err(|error| error.to_string())?;
    let plain = 2.0 * windows as f64 * places.magnitude(&layout) + 1.0;
    if plain > 2f64.powi(PLAIN_BITS) {
        return Err(format!("sums need a plain modulus of {:.0} bits", plain.log2().ceil()));
    }
    let profile = PRIME_BITS
        .into_iter()
        .filter_map(|bits| smallest(degree, bits, plain as u64, places.count(&layout, ticks), windows))
        .min_by_key(|profile| profile.form().width());
    let profile = profile.ok_or("no prime of 128-bit security holds these sums")?;
    let form = profile.form();
    let places = Places { width: form.width(), ..places.clone() };
    Ok(Chosen {
        stream: stream.clone(),
        spec: profile.params().spec().clone(),
        cut: Cut { span: stream.span, period: stream.period, ticks },
        keys: KeysNeeded::default(),
        levels_used: 0,
        flooding_bits: None,
        noise_bits_left: profile.room(Weights::of_ones(windows)),
        window_bytes: WINDOW_OVERHEAD + form.body_bytes(),
        answer_bytes: CompactSums::frame_bytes(windows as usize, 1, form.body_bytes()) as u64,
        results_in_one: 1,
        sums_of: windows,
        key_bytes: 0,
        alternatives: Vec::new(),
        compact: Some(places),
        layout,
    })
}

/// Returns the form with the fewest bits per place that supports sums of `windows` windows.
fn smallest(degree: usize, bits: u32, plain: u64, places: usize, windows: u64) -> Option<Profile> {
    let request = ChainRequest::one_prime(SchemeId::Bfv, degree, plain, bits);
    let params = Params::<Bfv>::new(request.build().ok()?).ok()?;
    let widths = u64::BITS - plain.leading_zeros()..=u64::BITS;
    let profiles = widths.filter_map(|width| Profile::new(&params, places, width).ok());
    profiles.into_iter().find(|profile| profile.room(Weights::of_ones(windows)) >= 0.0)
}

/// Returns the bins that a stream's questions need.
///
/// # Errors
/// The reason why there are none: a channel without a resolution, or too many bins.
fn bins(stream: &StreamNeeds, channels: &[Channel]) -> Result<Vec<ChannelBins>, String> {
    let mut all = Vec::new();
    for (at, channel) in (0u16..).zip(channels) {
        let Some(needed) = stream.needs.bins.get(&channel.name) else { continue };
        let (minimum, maximum) = (channel.minimum, channel.maximum);
        let resolution = channel.resolution.unwrap_or_default();
        let quantiser = Quantiser::with_resolution(minimum, maximum, resolution);
        let quantiser = quantiser.map_err(|error| error.to_string())?;
        let edges = needed.iter().flat_map(|bins| bins.edges(&quantiser, (minimum, maximum)));
        let bins = ChannelBins::new(at, edges, &quantiser);
        if bins.count() > MOST_BINS {
            return Err(format!(
                "the questions need {} bins of {}, and a channel has at most {MOST_BINS}",
                bins.count(),
                channel.name
            ));
        }
        all.push(bins);
    }
    Ok(all)
}

/// Checks that windows of a compact stream hold everything that a stream needs.
///
/// # Errors
/// The reason why they do not.
pub(crate) fn fits(
    stream: &StreamNeeds,
    channels: &[Channel],
    spec: &ParameterSpec,
    places: &Places,
) -> Result<(), String> {
    if stream.needs.squares && !places.squares {
        return Err("it does not send squares".to_owned());
    }
    let position = |name: &String| channels.iter().position(|channel| channel.name == *name);
    for (x, y) in &stream.needs.products {
        let at = position(x).zip(position(y)).map(|(x, y)| (x.min(y) as u16, x.max(y) as u16));
        if at.is_none_or(|pair| !places.products.contains(&pair)) {
            return Err(format!("it does not send products of {x} and {y}"));
        }
    }
    for needed in bins(stream, channels)? {
        let sent = places.bins_of(needed.channel);
        if sent.is_none_or(|sent| needed.edges.iter().any(|edge| !sent.edges.contains(edge))) {
            let name = &channels[usize::from(needed.channel)].name;
            return Err(format!(
                "it does not count the readings of {name} in the bins that the question needs"
            ));
        }
    }
    if spec.scheme == SchemeId::Bfv { Ok(()) } else { Err("its parameters are not BFV's".to_owned()) }
}
