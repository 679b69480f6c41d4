//! The orders that this folder knows, in `logs/orders`: the length of each in 4 bytes, and its frame.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;

use sotto_cloud_client::{Cloud, CloudError, Forgotten};
use sotto_keys::SigningIdentity;
use sotto_wire::{Digest, Order, OrderParts, Ordered, WireError};

use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::{lock_file, make_folder, read_within, write_private};

/// Largest file of orders that is read: 256 MiB, in bytes.
const LARGEST: u64 = 256 << 20;

/// An order with its digest and its frame.
struct Known {
    order: Order,
    digest: Digest,
    frame: Vec<u8>,
}

/// The orders of a plant.
#[derive(Debug, Default)]
pub(crate) struct Learnt {
    /// Those that one of the owner's keys signed.
    pub(crate) ours: Vec<Order>,
    /// The number of those that other keys signed, by key.
    pub(crate) unknown: BTreeMap<[u8; 32], u64>,
}

/// An order that is signed and noted here, and not sent yet.
pub(crate) struct Signed {
    frame: Vec<u8>,
}

/// Signs an order and notes it here. If it is not sent then, it is sent with the next one.
///
/// # Errors
/// [`OwnerError::Secrets`] if the owner's key cannot be used: nothing is ordered then.
pub(crate) fn sign(plant: &Plant, device: &str, what: Ordered) -> Result<Signed, OwnerError> {
    let identity = plant.secrets().owner_identity()?;
    let (given_at, device) = (jiff::Timestamp::now().as_millisecond(), device.to_owned());
    let parts = OrderParts { given_at, owner: identity.verifying_key(), device, what };
    let known = signed(parts, &identity)
        .map_err(|error| OwnerError::Unanswerable(format!("the order cannot be written: {error}")))?;
    let frame = known.frame.clone();
    add(plant, vec![known])?;
    Ok(Signed { frame })
}

impl Signed {
    /// Sends the order. Returns the counts of its deletion.
    pub(crate) fn send(&self, cloud: &Cloud) -> Result<Forgotten, OwnerError> {
        Ok(cloud.give_order(&self.frame)?)
    }
}

fn signed(parts: OrderParts, identity: &SigningIdentity) -> Result<Known, WireError> {
    let order = Order::sign(parts, |message| identity.sign(message))?;
    Ok(Known { digest: order.digest()?, frame: order.write()?, order })
}

/// Returns the orders that this folder knows, in the order in which it learnt them.
fn known(plant: &Plant) -> Result<Vec<Order>, OwnerError> {
    Ok(read(plant)?.into_iter().map(|known| known.order).collect())
}

/// Returns the orders to add windows up that this folder knows.
pub(super) fn roll_ups(plant: &Plant) -> Result<Vec<Order>, OwnerError> {
    let known = read_some(plant, |order| order.roll_up().is_some())?;
    Ok(known.into_iter().map(|known| known.order).collect())
}

/// Learns the orders that the cloud keeps and the owner signed, as another computer of the owner may have given them. Gives
/// the cloud those that it lacks, as after a backup was put back. Returns all, and counts those of other keys, which order
/// nothing here.
///
/// # Errors
/// [`OwnerError::Cloud`] if the cloud is away. One of an earlier version has no orders.
pub(crate) fn learn(plant: &Plant, cloud: &Cloud) -> Result<Learnt, OwnerError> {
    let frames = match cloud.orders() {
        Err(CloudError::Refused { status: 404 | 405, .. }) => {
            return Ok(Learnt { ours: known(plant)?, ..Learnt::default() });
        }
        frames => frames?,
    };
    let keys = plant.secrets().owner_keys()?;
    let (mut there, mut unknown) = (Vec::new(), BTreeMap::new());
    for frame in frames {
        let Ok(order) = Order::read(&frame) else { continue };
        let key = order.parts().owner;
        if keys.contains(&key) {
            there.extend(ours(order, frame, &keys));
        } else if order.verify(&key).is_ok() {
            *unknown.entry(key).or_default() += 1;
        }
    }
    let digests: BTreeSet<Digest> = there.iter().map(|known| known.digest).collect();
    let all = add(plant, there)?;
    for lacking in all.iter().filter(|known| !digests.contains(&known.digest)) {
        // One that it does not take now is sent with the next look.
        let _ = cloud.give_order(&lacking.frame);
    }
    Ok(Learnt { ours: all.into_iter().map(|known| known.order).collect(), unknown })
}

/// Returns an order with its frame, if one of the owner's keys signed it.
fn ours(order: Order, frame: Vec<u8>, keys: &[[u8; 32]]) -> Option<Known> {
    let is_ours = keys.iter().any(|key| order.verify(key).is_ok());
    is_ours.then_some(())?;
    Some(Known { digest: order.digest().ok()?, order, frame })
}

fn path(plant: &Plant) -> PathBuf {
    plant.path("logs").join("orders")
}

fn lock(plant: &Plant) -> Result<File, OwnerError> {
    make_folder(&plant.path("logs"), true)?;
    lock_file(&plant.path("logs").join("orders.lock"))
}

fn read(plant: &Plant) -> Result<Vec<Known>, OwnerError> {
    read_some(plant, |_| true)
}

/// Reads those orders that are wanted, and checks their signatures.
fn read_some(plant: &Plant, is_wanted: impl Fn(&OrderParts) -> bool) -> Result<Vec<Known>, OwnerError> {
    let path = path(plant);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = read_within(&path, LARGEST)?;
    let damaged = || OwnerError::Damaged { path: path.clone(), reason: "an order cannot be read".to_owned() };
    let (mut rest, mut all, keys) = (&bytes[..], Vec::new(), plant.secrets().owner_keys()?);
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let (frame, behind) =
            behind.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(damaged)?;
        // One of a key that is not known here any more orders nothing.
        let order = Order::read(frame).ok().filter(|order| is_wanted(order.parts()));
        all.extend(order.and_then(|order| ours(order, frame.to_vec(), &keys)));
        rest = behind;
    }
    if rest.is_empty() { Ok(all) } else { Err(damaged()) }
}

/// Adds those that are new. Returns all.
fn add(plant: &Plant, orders: Vec<Known>) -> Result<Vec<Known>, OwnerError> {
    let _lock = lock(plant)?;
    let mut all = read(plant)?;
    let mut digests: BTreeSet<Digest> = all.iter().map(|known| known.digest).collect();
    let new: Vec<Known> = orders.into_iter().filter(|known| digests.insert(known.digest)).collect();
    if new.is_empty() {
        return Ok(all);
    }
    let path = path(plant);
    let mut bytes = if path.exists() { read_within(&path, LARGEST)? } else { Vec::new() };
    for known in &new {
        bytes.extend_from_slice(&(known.frame.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&known.frame);
    }
    write_private(&path, &bytes)?;
    all.extend(new);
    Ok(all)
}
