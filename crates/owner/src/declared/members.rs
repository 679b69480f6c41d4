//! The devices that a call of a question is about: by their names, by tags, by the call itself.

use std::collections::BTreeSet;

use super::settings::Settings;
use crate::functions::Call;
use crate::language::Scope;
use crate::question::Question;

/// A device of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'d> {
    pub(crate) name: &'d str,
    pub(crate) tags: &'d [String],
}

impl Settings {
    /// Returns a device with its tags. One that was removed has none.
    pub(crate) fn member<'d>(&'d self, name: &'d str) -> Member<'d> {
        Member { name, tags: self.devices.get(name).map_or(&[], |device| &device.tags) }
    }

    /// Returns true if readings of a device count in a call: by the devices that the call names, else by those of the question.
    pub(crate) fn takes(
        &self,
        question: &Question,
        (call, of): (&Call, Option<&Scope>),
        device: Member<'_>,
    ) -> bool {
        match of {
            _ if !call.two_devices().is_empty() => {
                call.two_devices().iter().any(|of| of.may_be_of(device.name))
            }
            Some(Scope::Device(name)) => name == device.name,
            Some(Scope::Tag(tag)) => self.has_tag(call, std::slice::from_ref(tag), device),
            Some(Scope::AllDevices) | None => {
                question.only.as_ref().is_none_or(|only| only.iter().any(|name| name == device.name))
                    && (question.tags.is_empty() || self.has_tag(call, &question.tags, device))
            }
        }
    }

    /// Returns true if each channel of a call has one of these tags, by itself or by the device.
    pub(crate) fn has_tag(&self, call: &Call, tags: &[String], device: Member<'_>) -> bool {
        let any = |own: &[String]| own.iter().any(|tag| tags.contains(tag));
        let of_channel = |name: &&str| self.channels.get(*name).is_some_and(|channel| any(&channel.tags));
        any(device.tags) || call.channels().iter().all(of_channel)
    }

    /// Returns all tags of devices and channels, in order.
    pub(crate) fn tags(&self) -> BTreeSet<&str> {
        let devices = self.devices.values().flat_map(|device| &device.tags);
        let channels = self.channels.values().flat_map(|channel| &channel.tags);
        devices.chain(channels).map(String::as_str).collect()
    }

    /// Returns the tags that have a row of a question, in order: those of its `where` clause, else those of its channels and of
    /// these devices.
    pub(crate) fn tags_of<'s>(
        &'s self,
        question: &'s Question,
        devices: impl Iterator<Item = &'s str>,
    ) -> BTreeSet<&'s str> {
        if !question.tags.is_empty() {
            return question.tags.iter().map(String::as_str).collect();
        }
        let of_devices = devices.flat_map(|name| self.member(name).tags).map(String::as_str);
        let channels = question.channels();
        let of_channels = channels.iter().filter_map(|name| self.channels.get(name));
        of_devices.chain(of_channels.flat_map(|channel| &channel.tags).map(String::as_str)).collect()
    }
}
