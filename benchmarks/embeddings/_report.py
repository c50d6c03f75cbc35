def write(records, docs): raise NotImplementedError
