"""Prints a CIFF file, read with the protobuf library by the format's definition."""

import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, unknown_fields

F = descriptor_pb2.FieldDescriptorProto


def define():
    file = descriptor_pb2.FileDescriptorProto(name="ciff.proto", package="ciff", syntax="proto3")
    messages = {
        "Header": [
            ("version", F.TYPE_INT32), ("num_postings_lists", F.TYPE_INT32), ("num_docs", F.TYPE_INT32),
            ("total_postings_lists", F.TYPE_INT32), ("total_docs", F.TYPE_INT32),
            ("total_terms_in_collection", F.TYPE_INT64), ("average_doclength", F.TYPE_DOUBLE),
            ("description", F.TYPE_STRING),
        ],
        "Posting": [("docid", F.TYPE_INT32), ("tf", F.TYPE_INT32)],
        "PostingsList": [("term", F.TYPE_STRING), ("df", F.TYPE_INT64), ("cf", F.TYPE_INT64), ("postings", "Posting")],
        "DocRecord": [("docid", F.TYPE_INT32), ("collection_docid", F.TYPE_STRING), ("doclength", F.TYPE_INT32)],
    }
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for number, (field, kind) in enumerate(fields, 1):
            if isinstance(kind, str):
                message.field.add(name=field, number=number, type=F.TYPE_MESSAGE, type_name=".ciff." + kind, label=F.LABEL_REPEATED)
            else:
                message.field.add(name=field, number=number, type=kind, label=F.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName("ciff." + name)) for name in messages}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def message(self, cls):
        size = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        m = cls.FromString(self.data[self.at : self.at + size])
        self.at += size
        if len(unknown_fields.UnknownFieldSet(m)):
            sys.exit("fields that the format does not have")
        return m


types = define()
with open(sys.argv[1], "rb") as f:
    r = Reader(f.read())
h = r.message(types["Header"])
print(f"version {h.version} lists {h.num_postings_lists} {h.total_postings_lists} docs {h.num_docs} {h.total_docs} "
      f"terms {h.total_terms_in_collection} average {h.average_doclength:.9f}: {h.description}")
for _ in range(h.num_postings_lists):
    p = r.message(types["PostingsList"])
    doc, postings = 0, []
    for posting in p.postings:
        doc += posting.docid  # the difference to the one before
        postings.append(f"{doc}:{posting.tf}")
    print(p.term, "df", p.df, "cf", p.cf, *postings)
for _ in range(h.num_docs):
    d = r.message(types["DocRecord"])
    print(d.docid, d.collection_docid, d.doclength)
if r.at != len(r.data):
    sys.exit("something is left over")
