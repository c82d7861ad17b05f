//! Both ends of a connection of quinn, and what is recorded of it.

mod application;
mod chance;
mod end;
mod observed;
mod pair;
pub(crate) mod session;

pub(crate) use self::observed::ControllerSource;
pub(crate) use self::pair::Pair;
