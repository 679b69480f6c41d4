//! Quantities: values summed over windows, slot by slot.

use std::ops::Range;
use std::sync::Arc;

use sotto_pack::{Encoding, Layout, Presence, StepDigits, WindowDescription};
use sotto_rlwe::{Kept, Origin};

use crate::gathered::WindowQuantity;
use crate::runs::share;

/// A quantity: a value in each slot of a frame, summed over the windows of a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// Σ q.
    Sum,
    /// Σ q².
    Square,
    /// Σ q_i · q_j, in the slots of channel i.
    Product(u16, u16),
    /// Σ q over the ticks at which both channels have a reading.
    Joint(u16, u16),
    /// Σ q² over the ticks at which both channels have a reading.
    JointSquare(u16, u16),
    /// Number of readings in each bin of a channel, instead of a value in each slot.
    Counts(u16),
    /// A quantity of a channel that each window holds: a value for each window of a part, instead of a value in each slot.
    Held(u16, WindowQuantity),
    /// Number of readings of a channel of comparable steps that are this quantised number or above. Counts missing
    /// readings as 0, the middle of the range.
    AtLeast(u16, i64),
    /// Σ w · q with whole weights, by tick of the group.
    Weighted(TickWeights),
    /// Σ p(u) − p(0) for a polynomial in the normalised value u of one channel, lowest coefficient first.
    Polynomial(u16, Vec<f64>),
    /// Σ Σ_c a_c · u_c, in the slots of the first channel.
    Linear(Vec<(u16, f64)>),
    /// A polynomial or a linear combination, compared with a limit: about 1 above it and −1 below.
    Beyond(Beyond),
}

/// A comparison of a polynomial or a linear combination, whose absolute coefficients sum to 1, with a limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Beyond {
    /// The value that is compared.
    pub(crate) of: Box<Quantity>,
    /// The limit, in −1 … 1.
    pub(crate) limit: f64,
    /// The comparison is open where the value is nearer to the limit than 2^-gap_bits of [`Beyond::reach`].
    pub(crate) gap_bits: u8,
}

impl Beyond {
    /// Returns a bound on |value − limit|.
    pub(crate) fn reach(&self) -> f64 {
        1.0 + self.limit.abs()
    }

    /// Returns the value and the limit, divided so that their difference is within ±1.
    pub(crate) fn scaled(&self) -> (Quantity, f64) {
        let reach = self.reach();
        let of = match &*self.of {
            Quantity::Polynomial(channel, coefficients) => {
                Quantity::Polynomial(*channel, coefficients.iter().map(|c| c / reach).collect())
            }
            Quantity::Linear(terms) => {
                Quantity::Linear(terms.iter().map(|(channel, factor)| (*channel, factor / reach)).collect())
            }
            other => other.clone(),
        };
        (of, self.limit / reach)
    }
}

impl Quantity {
    /// Returns the channel whose slots hold the values; None if the slots of every channel do.
    pub(crate) fn channel(&self) -> Option<u16> {
        match self {
            Self::Polynomial(channel, _) | Self::AtLeast(channel, _) => Some(*channel),
            Self::Linear(terms) => terms.first().map(|(channel, _)| *channel),
            Self::Beyond(beyond) => beyond.of.channel(),
            _ => None,
        }
    }

    /// Returns a bound on the absolute value of one window's whole numbers in a slot. Reals are normalised to 1.
    pub(crate) fn magnitude(&self, layout: &Layout) -> f64 {
        let top = layout.magnitude();
        match self {
            Self::Sum | Self::Joint(..) | Self::Held(..) => top,
            Self::Square | Self::JointSquare(..) | Self::Product(..) => top * top,
            Self::Weighted(_) => top * LARGEST_WEIGHT as f64,
            Self::Counts(_) => layout.ticks().into(),
            Self::AtLeast(..) | Self::Polynomial(..) | Self::Linear(_) | Self::Beyond(_) => 1.0,
        }
    }
}

/// Whole weights: `weights[k]` is for the k-th tick after the start of the window's group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TickWeights {
    pub(crate) channel: u16,
    /// Weights by tick, with absolute values up to [`LARGEST_WEIGHT`].
    pub(crate) weights: Arc<[i64]>,
}

/// Whole weights have 16 bits.
pub(crate) const LARGEST_WEIGHT: i64 = (1 << 16) - 1;

/// A window as input of a job, or several windows of sums that follow each other: the first is described, each of the others
/// begins where the one before ends, and has the next number.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// The envelope's id in the cloud, for requests alone.
    pub(crate) id: String,
    /// The window's identity: of a ciphertext its leaf in the log of its stream.
    pub(crate) identity: sotto_wire::Digest,
    /// Its number in its stream.
    pub(crate) sequence: u64,
    /// Bytes of the windows as they were sent.
    pub(crate) bytes: u64,
    /// The name of its pads, if it is a window of sums.
    pub(crate) name: Option<sotto_wire::MaskName>,
    pub(crate) window: Arc<WindowDescription>,
    /// The tick of the group at which the window starts; below 0 if it starts before the group.
    pub(crate) offset: i64,
    /// The window's ticks that have weights.
    pub(crate) ticks: Range<u32>,
    /// The key that the window is encrypted under.
    pub(crate) origin: Origin,
    /// The sum that the cloud keeps in place of its body.
    pub(crate) rolled: Option<Rolled>,
    /// Number of windows.
    pub(crate) count: u32,
}

/// A sum of windows that the cloud keeps in place of their bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rolled {
    /// Its number among those of its stream.
    pub(crate) number: u32,
    pub(crate) windows: u32,
}

impl Input {
    /// Iterates over its windows, each as an input.
    pub(crate) fn each(&self) -> impl Iterator<Item = Self> {
        (0..self.count).map(move |index| {
            if index == 0 && self.count == 1 {
                return self.clone();
            }
            let ahead = u64::from(index);
            let sequence = self.sequence.wrapping_add(ahead);
            let mut identity = self.identity;
            // That of a window of sums ends with its number.
            identity[24..].copy_from_slice(&sequence.to_le_bytes());
            let mut window = (*self.window).clone();
            window.start = window.period.at(window.start, index * window.ticks());
            Self {
                identity,
                sequence,
                bytes: share(self.bytes, ahead..ahead + 1, self.count.into()),
                name: self.name.map(|name| name.ahead(ahead)),
                offset: self.offset + i64::from(index * window.ticks()),
                window: Arc::new(window),
                count: 1,
                ..self.clone()
            }
        })
    }

    /// Returns the weights in the window's slots; 0 for slots without a weight.
    pub(crate) fn slot_weights(&self, of: &TickWeights) -> Vec<i128> {
        let layout = &self.window.layout;
        let mut slots = vec![0; layout.slots()];
        for tick in 0..self.window.ticks() {
            if let Some(slot) = layout.slot(of.channel, tick) {
                slots[slot] = self.weight(of, tick).into();
            }
        }
        slots
    }

    /// Returns the place of a tick among the weights of its group; None if it has no weight.
    pub(crate) fn weighted_at(&self, tick: u32) -> Option<usize> {
        let at = self.offset.checked_add(tick.into()).filter(|_| self.ticks.contains(&tick))?;
        usize::try_from(at).ok()
    }

    /// Returns the weight of a tick; 0 if it has none.
    pub(crate) fn weight(&self, of: &TickWeights, tick: u32) -> i64 {
        self.weighted_at(tick).and_then(|at| of.weights.get(at)).copied().unwrap_or_default()
    }

    /// Returns the ticks at which both channels have a reading; None if the description does not tell.
    pub(crate) fn both(&self, first: u16, second: u16) -> Option<Presence> {
        Some(self.window.presence(first)?.and(&self.window.presence(second)?))
    }

    /// Returns true if both channels have readings at the same ticks; None if the description does not tell.
    pub(crate) fn together(&self, first: u16, second: u16) -> Option<bool> {
        Some(self.window.presence(first)? == self.window.presence(second)?)
    }

    /// Returns 1 in the slots of both channels at ticks where both have a reading, else 0.
    pub(crate) fn mask(&self, first: u16, second: u16) -> Vec<i128> {
        let layout = &self.window.layout;
        let mut slots = vec![0; layout.slots()];
        let both = self.both(first, second).unwrap_or_default();
        for tick in both.iter() {
            for channel in [first, second] {
                if let Some(slot) = layout.slot(channel, tick) {
                    slots[slot] = 1;
                }
            }
        }
        slots
    }
}

/// The plain modulus of streams of steps: a prime above every digit, with slots for all degrees up to 32768.
pub(crate) const STEPS_MODULUS: u64 = 65_537;

/// Returns the key that the windows of a stream are encrypted under.
pub(crate) fn origin(public: bool) -> Origin {
    if public { Origin::PublicKey } else { Origin::SecretKey }
}

/// Returns the coefficients that hold the values of windows with this layout, if these repeat over the slots of a
/// ciphertext of this degree; else None. Values of two rows, whole numbers for sums, do not repeat.
pub(crate) fn kept(layout: &Layout, degree: usize) -> Option<Kept> {
    let slots = match layout.encoding() {
        Encoding::Real => layout.columns(),
        Encoding::Resolution if layout.rows() == 1 => StepDigits::of(layout)?.slots(layout),
        _ => return None,
    };
    (slots as usize <= degree / 2).then_some(Kept::Folded(slots as usize))
}

/// Returns the number of decoded slots from one result of an answer to the next: the repeated values of compact
/// windows, else a frame.
pub(crate) fn stride(layout: &Layout, degree: usize) -> usize {
    kept(layout, degree).map_or(frame(layout) as usize, Kept::values)
}

/// Returns the number of slots in a frame: those of all channels of a layout, rounded up to a power of two.
pub(crate) fn frame(layout: &Layout) -> u32 {
    (layout.channels().len() as u32 * layout.block()).next_power_of_two()
}
