"""A small validator of JSON Schema: the keywords that our schemas use, and no other."""
import json
import re

KEYWORDS = {"$schema", "$id", "title", "description", "type", "properties", "required", "items", "enum",
            "const", "anyOf", "additionalProperties", "minimum", "pattern", "minItems", "minLength"}
TYPES = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}


def is_type(value, name):
    if name in ("number", "integer"):
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return not isinstance(value, bool) and (whole if name == "integer" else isinstance(value, (int, float)))
    return isinstance(value, TYPES[name])


def errors(value, schema, at):
    """Where the value is not as the schema says."""
    if "anyOf" in schema:
        if all(list(errors(value, one, at)) for one in schema["anyOf"]):
            yield f"{at}: fits none of the alternatives"
    if "type" in schema and not is_type(value, schema["type"]):
        yield f"{at}: no {schema['type']}: {json.dumps(value)[:80]}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{at}: {value} is below {schema['minimum']}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{at}: {value!r} does not match {schema['pattern']}"
    if "minLength" in schema and len(value) < schema["minLength"]:
        yield f"{at}: {value!r} is too short"
    if "minItems" in schema and len(value) < schema["minItems"]:
        yield f"{at}: too few members"
    if isinstance(value, dict):
        known = schema.get("properties", {})
        further = schema.get("additionalProperties", {})
        for name in schema.get("required", []):
            if name not in value:
                yield f"{at}: {name} is missing"
        for name, member in value.items():
            if name not in known and further is False:
                yield f"{at}: {name} is no member"
            else:
                yield from errors(member, known.get(name, further), f"{at}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, member in enumerate(value):
            yield from errors(member, schema["items"], f"{at}[{i}]")


def keyword_errors(schema, at):
    for keyword in schema:
        if keyword not in KEYWORDS:
            yield f"{at}: unknown keyword {keyword}"
    for name, member in schema.get("properties", {}).items():
        yield from keyword_errors(member, f"{at}.{name}")
    for name in schema.get("required", []):
        if name not in schema.get("properties", {}):
            yield f"{at}: {name} is required but not described"
    inner = schema.get("anyOf", []) + [schema[k] for k in ("items", "additionalProperties") if schema.get(k)]
    for one in inner:
        yield from keyword_errors(one, at)
