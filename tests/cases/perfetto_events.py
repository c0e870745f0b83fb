"""Prints the events of a Perfetto trace as JSON, decoded by the published schema: perfetto_events.py FILE. Runs in the
environment of perfetto.txt. Anything that the schema does not know is an error."""
import json
import sys

from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema


def check(message):
    assert not len(unknown_fields.UnknownFieldSet(message)), f"unknown fields in {message}"
    for field, value in message.ListFields():
        if field.message_type:
            for part in value if field.is_repeated else [value]:
                check(part)


def argument(annotation, names, texts):
    value = texts[annotation.string_value_iid] if annotation.string_value_iid else annotation.uint_value
    return names[annotation.name_iid], value


def main():
    trace = schema.Trace()
    trace.ParseFromString(open(sys.argv[1], "rb").read())
    check(trace)
    interned, tracks, opened, events = {}, {}, {}, []
    for packet in trace.packet:
        categories, names, facts, texts = interned.setdefault(packet.trusted_packet_sequence_id, ({}, {}, {}, {}))
        if packet.sequence_flags & schema.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            for table in (categories, names, facts, texts):
                table.clear()
        categories.update((entry.iid, entry.name) for entry in packet.interned_data.event_categories)
        names.update((entry.iid, entry.name) for entry in packet.interned_data.event_names)
        facts.update((entry.iid, entry.name) for entry in packet.interned_data.debug_annotation_names)
        texts.update((entry.iid, entry.str.decode()) for entry in packet.interned_data.debug_annotation_string_values)
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            if track.HasField("process"):
                tracks[track.uuid] = (track.process.pid, None, track.process.process_name)
            else:
                assert tracks[track.parent_uuid][0] == track.thread.pid
                tracks[track.uuid] = (track.thread.pid, track.thread.tid, track.thread.thread_name)
        if packet.HasField("track_event"):
            event = packet.track_event
            pid, tid, _ = tracks[event.track_uuid]
            if event.type == schema.TrackEvent.TYPE_SLICE_END:
                opened.pop(event.track_uuid)["end_ns"] = packet.timestamp
                continue
            events.append({"pid": pid, "tid": tid, "start_ns": packet.timestamp,
                           "name": event.name or names[event.name_iid],
                           "category": [categories[iid] for iid in event.category_iids],
                           "arguments": dict(argument(part, facts, texts) for part in event.debug_annotations)})
            if event.type == schema.TrackEvent.TYPE_SLICE_BEGIN:
                assert event.track_uuid not in opened, "launches of a thread overlap"
                opened[event.track_uuid] = events[-1]
    assert not opened
    processes = {pid: name for pid, tid, name in tracks.values() if tid is None}
    threads = [[pid, tid, name] for pid, tid, name in tracks.values() if tid is not None]
    json.dump({"events": events, "processes": processes, "threads": threads}, sys.stdout)


main()
