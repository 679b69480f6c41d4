//! Opening of one window of each of many devices.

use alloc::vec::Vec;

use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::bits::bits_at;
use crate::deriver::{Deriver, Purpose};
use crate::device_window::DeviceWindow;
use crate::field::Products;
use crate::fleet_sum::FleetSum;
use crate::form::{Form, Positioned};
use crate::lanes::{Group, LANES, Word};
use crate::open::{OpenError, lift};

const NO_WORD: Word = [0; LANES];

/// Opens one window of each of many devices, 16 devices at a time. Each has a secret, a stream, a start and a tag of its own;
/// the form and the part are the same.
///
/// A window is opened or refused as by [`Opening`](crate::Opening), with weight 1. Keeps 11 KB, and 128 bytes for each place.
/// Wiped when dropped.
///
/// ```
/// use sotto_sums::{DeviceWindow, Encryptor, FleetOpening, Form, Part, Place};
///
/// let columns = [Place::new(23, 0, 4095)?];
/// let form = Form::new(&[], &columns, 1, 0, 4)?;
/// let (stream, salt) = ([2; 32], [3; 12]);
///
/// // Three devices send a window each: two readings, 100 more from device to device.
/// let secrets = [[1; 32], [4; 32], [5; 32]]; // real secrets are random
/// let mut sent = Vec::new();
/// for (secret, reading) in secrets.iter().zip([100, 200, 300]) {
///     let mut bytes = vec![0; form.body_bytes(2)];
///     let mut encryptor = Encryptor::new(secret, &stream, &salt, 0);
///     let tag = encryptor.window(7)?.encrypt(&form, 2, 0, [Some(reading), Some(9)], [1], &mut bytes)?;
///     bytes.extend(tag.to_bytes());
///     sent.push(bytes);
/// }
/// // The cloud changes a bit of the last.
/// sent[2][0] ^= 1;
///
/// let parts = sent.iter().map(|bytes| Part::read(&form, 2, bytes)).collect::<Result<Vec<_>, _>>()?;
/// let windows = secrets.iter().zip(parts).map(|(secret, part)| DeviceWindow {
///     secret, stream: &stream, salt: &salt, number: 7, ticks: 2, present: |_place| true, part, counts: &[1],
/// });
/// let sum = FleetOpening::new(&form, 0).sum(windows);
/// assert_eq!((&sum.values[..], &sum.counts[..]), (&[300, 18][..], &[2][..]));
/// assert_eq!((sum.opened, &sum.refused[..]), (2, &[2][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FleetOpening<'f> {
    form: Form<'f>,
    part: u32,
    places: Vec<Positioned<'f>>,
    deriver: Deriver,
    pads: Group,
    tag_pads: Group,
    tag: Group,
    count: Group,
    /// Values of a group: by place, then by lane.
    values: Vec<[i64; LANES]>,
}

impl<'f> FleetOpening<'f> {
    /// Prepares the opening of windows of a form and a part.
    pub fn new(form: &Form<'f>, part: u32) -> Self {
        let places = form.walk(form.ticks()).collect::<Vec<_>>();
        let values = vec![[0; LANES]; places.len()];
        let [pads, tag_pads, mut tag, mut count] = core::array::from_fn(|_| Group::new());
        for lane in 0..LANES {
            tag.set(lane, 0, part);
            count.set(lane, 0, part);
        }
        Self { form: *form, part, places, deriver: Deriver::new(), pads, tag_pads, tag, count, values }
    }

    /// Opens each window, and adds the values of those whose tags are right. The caller names each device once.
    pub fn sum<'w, P: Fn(usize) -> bool>(
        &mut self,
        windows: impl IntoIterator<Item = DeviceWindow<'w, P>>,
    ) -> FleetSum {
        let mut sum = FleetSum::default();
        self.groups(windows, |first, group, right, values| sum.add(first, group, right, values));
        sum
    }

    /// Opens each window, and gives its position and its values by place to `each`, in order.
    ///
    /// # Errors
    /// `each` receives [`OpenError::Refused`] for a window that is not the device's, whatever the reason.
    pub fn open<'w, P: Fn(usize) -> bool>(
        &mut self,
        windows: impl IntoIterator<Item = DeviceWindow<'w, P>>,
        mut each: impl FnMut(usize, Result<&[i64], OpenError>),
    ) {
        let mut one = Vec::with_capacity(self.places.len());
        self.groups(windows, |first, group, right, values| {
            for (lane, window) in group.iter().enumerate() {
                if right[lane] {
                    let places = window.part.form().places(window.part.ticks());
                    one.clear();
                    one.extend(values[..places].iter().map(|lanes| lanes[lane]));
                    each(first + lane, Ok(&one));
                } else {
                    each(first + lane, Err(OpenError::Refused));
                }
            }
        });
        one.zeroize();
    }

    /// Opens windows by groups. `each` receives the position of a group's first window, the windows, and by lane if it is
    /// opened; then values by place.
    fn groups<'w, P: Fn(usize) -> bool>(
        &mut self,
        windows: impl IntoIterator<Item = DeviceWindow<'w, P>>,
        mut each: impl FnMut(usize, &[DeviceWindow<'w, P>], &[bool; LANES], &[[i64; LANES]]),
    ) {
        let mut windows = windows.into_iter();
        let (mut first, mut group) = (0, Vec::with_capacity(LANES));
        loop {
            group.clear();
            group.extend(windows.by_ref().take(LANES));
            if group.is_empty() {
                break;
            }
            let right = self.open_group(&group);
            each(first, &group, &right, &self.values);
            first += group.len();
        }
    }

    /// Opens up to [`LANES`] windows into `values`; returns by lane if it is opened.
    fn open_group<P: Fn(usize) -> bool>(&mut self, group: &[DeviceWindow<'_, P>]) -> [bool; LANES] {
        let mut lanes = Lanes::default();
        let mut asked = [false; LANES];
        for (lane, window) in group.iter().enumerate() {
            asked[lane] = *window.part.form() == self.form
                && window.part.ticks() == window.ticks.min(self.form.ticks())
                && window.counts.len() <= self.form.counts(self.form.ticks());
            if asked[lane] {
                lanes.bodies[lane] = window.part.body();
                lanes.counts[lane] = window.counts;
                lanes.places[lane] = self.form.places(window.part.ticks());
                self.deriver.set(lane, window.secret, window.stream, window.salt);
                self.pads.set(lane, window.number, self.part);
                self.tag_pads.set(lane, window.number, self.part);
            }
        }
        self.set_keys();
        let pads = self.tag_pads.residue(0);
        for (lane, tag) in lanes.tags.iter_mut().enumerate() {
            tag.add(pads.lane(lane), 1);
        }
        self.add_places(group, &mut lanes);
        self.add_counts(&mut lanes);
        let mut right = [false; LANES];
        for (lane, window) in group.iter().enumerate() {
            let tag = lanes.tags[lane].residue().value().ct_eq(&window.part.tag().0.value());
            right[lane] = asked[lane] && bool::from(tag & lanes.outside[lane].ct_eq(&0));
        }
        lanes.tags = Default::default();
        core::hint::black_box(&mut lanes.tags);
        right
    }

    /// Derives the keys of all lanes. A lane without a window keeps those of a window before.
    fn set_keys(&mut self) {
        self.pads.set_keys(self.deriver.derive(Purpose::Pads));
        self.tag_pads.set_keys(self.deriver.derive(Purpose::TagPads));
        self.tag.set_keys(self.deriver.derive(Purpose::Tag));
        self.count.set_keys(self.deriver.derive(Purpose::Count));
    }

    /// Takes the pads away and adds Σ k·m.
    fn add_places<P: Fn(usize) -> bool>(&mut self, group: &[DeviceWindow<'_, P>], lanes: &mut Lanes<'_>) {
        let longest = lanes.places.iter().copied().max().unwrap_or_default();
        let mut low;
        for (index, (at, values)) in self.places[..longest].iter().zip(&mut self.values).enumerate() {
            let at = *at;
            // A narrow place has no high words.
            low = *self.pads.word(at.word);
            let high = if at.place.words() == 2 { self.pads.word(at.word + 1) } else { &NO_WORD };
            let keys = self.tag.residue(index);
            for (lane, window) in group.iter().enumerate() {
                values[lane] = 0;
                if index >= lanes.places[lane] {
                    continue;
                }
                let pad = u64::from(high[lane]) << 32 | u64::from(low[lane]);
                let pad = if (window.present)(index) { pad } else { 0 };
                let sent = bits_at(lanes.bodies[lane], at.bit, at.place.width());
                let (value, beyond) = lift(at.place, 1, 0, sent.wrapping_sub(pad));
                lanes.tags[lane].add(keys.lane(lane), value);
                lanes.outside[lane] |= beyond;
                values[lane] = value;
            }
            lanes.fold(index);
        }
        lanes.tags.iter_mut().for_each(Products::fold);
        low = NO_WORD;
        core::hint::black_box(&mut low);
    }

    /// Adds Σ k′·n.
    fn add_counts(&mut self, lanes: &mut Lanes<'_>) {
        let most = lanes.counts.iter().map(|counts| counts.len()).max().unwrap_or_default();
        for index in 0..most {
            let keys = self.count.residue(index);
            for (lane, (tag, counts)) in lanes.tags.iter_mut().zip(&lanes.counts).enumerate() {
                if let Some(count) = counts.get(index) {
                    tag.add(keys.lane(lane), i64::from(*count));
                }
            }
            lanes.fold(index);
        }
    }
}

/// Windows of a group while they are opened.
#[derive(Default)]
struct Lanes<'w> {
    /// Bodies, numbers of places, and counts: none if the window's public facts are not the owner's.
    bodies: [&'w [u8]; LANES],
    places: [usize; LANES],
    counts: [&'w [u16]; LANES],
    /// F + Σ k·m + Σ k′·n.
    tags: [Products; LANES],
    /// Not 0 if a value is outside its range.
    outside: [u64; LANES],
}

impl Lanes<'_> {
    /// Folds the tags before their products reach 2^128.
    #[inline]
    fn fold(&mut self, index: usize) {
        if index % Products::MOST == Products::MOST - 1 {
            self.tags.iter_mut().for_each(Products::fold);
        }
    }
}

impl Drop for FleetOpening<'_> {
    fn drop(&mut self) {
        self.values.as_flattened_mut().zeroize();
    }
}

impl ZeroizeOnDrop for FleetOpening<'_> {}
