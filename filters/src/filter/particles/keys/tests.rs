//! Values of keys.

use super::field::Field;
use super::*;
use crate::particle::Spread;

#[test]
fn values_out_of_range_are_refused() {
    let life = KeyType::Spread(0.001, 10_000.0);
    assert_eq!(Spread::between(0.001, 10_000.0).check(life), Ok(()));
    let low = Spread::between(-1.0, 2.0).check(life).unwrap_err();
    assert_eq!(low.to_string(), "-1 is not from 0.001 to 10000");
    assert!(Spread::fixed(f32::NAN).check(life).is_err());
    for endless in [f32::INFINITY, f32::NEG_INFINITY] {
        assert!(Spread::fixed(endless).check(life).is_err());
        assert!(Spread { base: 1.0, offset: endless }.check(life).is_err());
    }
    assert!(f32::INFINITY.check(KeyType::Number(0.0, 100.0)).is_err());
    let over = KeyType::Over(1.0);
    assert_eq!(Vec::<[f32; 2]>::new().check(over), Err(KeyError::Count(0, 1, 32)));
    assert_eq!(vec![[0.5f32, 1.0], [0.5, 1.0]].check(over), Err(KeyError::Order));
    assert!(vec![[0.0, f64::NAN]].check(over).is_err());
}
