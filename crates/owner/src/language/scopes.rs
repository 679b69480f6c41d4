//! The grammar of devices that a call names: `x of boiler`.

use super::Scope;
use super::error::QuestionErrorKind as Kind;
use super::parser::{Parsed, Parser};

impl Parser<'_> {
    /// Reads `of boiler`, `of tag barn` or `of all devices` behind a channel, if it is there.
    pub(super) fn scope(&mut self) -> Parsed<Option<Scope>> {
        if !self.accept_word("of")? {
            return Ok(None);
        }
        if self.accept_word("all")? {
            if self.accept_word("devices")? {
                return Ok(Some(Scope::AllDevices));
            }
            return Err(self.expected("devices, as in of all devices"));
        }
        if self.accept_word("tag")? {
            let at = self.start();
            let tag = self.name("a tag, as in x of tag barn")?;
            self.places.tags.push((tag.clone(), at));
            return Ok(Some(Scope::Tag(tag)));
        }
        let at = self.start();
        let device = self.name("a device, as in x of boiler, a tag, as in x of tag barn, or all devices")?;
        self.places.devices.push((device.clone(), at));
        Ok(Some(Scope::Device(device)))
    }

    /// Takes the two devices that the channels of a call name, if they are different ones. `first` is the number of its first
    /// channel among all of the text.
    pub(crate) fn take_two_devices(&mut self, first: usize) -> Option<[String; 2]> {
        let [(Some(Scope::Device(one)), _), (Some(Scope::Device(other)), _)] = &self.scopes[first..] else {
            return None;
        };
        if one == other {
            return None;
        }
        let two = [one.clone(), other.clone()];
        self.scopes[first..].iter_mut().for_each(|(scope, _)| *scope = None);
        Some(two)
    }

    /// Returns the devices that the channels of a call name; `first` is the number of its first channel among all of the text.
    pub(crate) fn scope_of_call(&self, first: usize) -> Parsed<Option<Scope>> {
        let mut scopes = self.scopes[first..].iter();
        let Some((scope, _)) = scopes.next() else { return Ok(None) };
        match scopes.find(|(other, _)| other != scope) {
            Some((_, at)) => Err(self.error(Kind::OtherScope, *at)),
            None => Ok(scope.clone()),
        }
    }
}
