//! Keys, values and layers.

use super::super::{Preset, presets};
use super::*;
use crate::settings::ChoiceEnum;

#[test]
fn every_layer_follows_its_keys() {
    for name in super::super::tests::names() {
        for layer in presets::preset(Preset::from_id(name).unwrap()).layers {
            let mut draft = LayerBuilder::default();
            for (key, item) in explicit_keys(&layer) {
                draft.put(key, item).unwrap_or_else(|e| panic!("{name}: {}: {e}", key.id));
            }
            assert_eq!(draft.finish(), Ok(layer), "{name}");
        }
    }
}

#[test]
fn contradicting_keys_are_refused() {
    let of = |given: &[(&str, KeyValue)]| {
        let mut draft = LayerBuilder::default();
        given.iter().for_each(|(id, item)| draft.put(find(id).unwrap(), item.clone()).unwrap());
        draft.finish().map_err(|(id, wrong)| (id, wrong.to_string()))
    };
    let one = KeyValue::Number(1.0);
    assert_eq!(of(&[]), Ok(Layer::default()));
    for (given, id) in [
        (vec![("rate", one.clone()), ("every", one.clone())], "every"),
        (vec![("count", one.clone())], "count"),
        (vec![("x", KeyValue::Numbers(vec![0.0, 1.0]))], "x"),
        (vec![("hole", KeyValue::Number(0.5))], "hole"),
        (vec![("shape", KeyValue::Choice("polygon"))], "shape"),
        (vec![("depth", KeyValue::Numbers(vec![2.0, 1.0]))], "depth"),
    ] {
        assert_eq!(of(&given).map_err(|e| e.0), Err(id));
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let life = find("life").unwrap().key_type;
    assert_eq!(life.check(&KeyValue::Spread(Spread::between(0.001, 10_000.0))), Ok(()));
    let low = life.check(&KeyValue::Spread(Spread::between(-1.0, 2.0))).unwrap_err();
    assert_eq!(low.to_string(), "-1 is not from 0.001 to 10000");
    assert!(life.check(&KeyValue::Spread(Spread::fixed(f32::NAN))).is_err());
    for endless in [f32::INFINITY, f32::NEG_INFINITY] {
        assert!(life.check(&KeyValue::Spread(Spread::fixed(endless))).is_err());
        assert!(life.check(&KeyValue::Spread(Spread { base: 1.0, offset: endless })).is_err());
    }
    assert!(find("drag").unwrap().key_type.check(&KeyValue::Number(f64::INFINITY)).is_err());
    assert_eq!(life.check(&KeyValue::Number(1.0)), Err(KeyError::Kind));
    let over = KeyType::Over { max: 1.0 };
    assert_eq!(over.check(&KeyValue::Points(vec![])), Err(KeyError::Count(0, 1, 32)));
    assert_eq!(over.check(&KeyValue::Points(vec![[0.5, 1.0], [0.5, 1.0]])), Err(KeyError::Order));
    assert!(over.check(&KeyValue::Points(vec![[0.0, f64::NAN]])).is_err());
}
